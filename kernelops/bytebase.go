package kernelops

import (
	"math"
	"slices"
)

// byteBase is a base as rows of 8 bits.
type byteBase struct {
	byteCenter
	rows, groups int
	words        []uint32  // word g of row j of panel p is words[(p*groups+g)*byteWidth+j]: 4 columns
	terms        []float32 // byteTerms of each panel
	scale        float64   // a power of two near the largest unit, in which terms are
	exact        bool      // no row loses anything: distances of queries that lose nothing are known without scoring
	rounded      []bool    // panels with a row that loses something
}

// panelCount is the number of panels that n rows fill.
func panelCount(n int) int { return (n + byteWidth - 1) / byteWidth }

// pack makes a base of the rows of y; false where it cannot: their sizes are beyond float64, or next to 0.
func (b *byteBase) pack(s *Set, y Matrix, ws *Workspace) bool {
	return b.packAround(centerOf(y, b.byteKind), s, y, ws)
}

func (b *byteBase) packAround(c byteCenter, s *Set, y Matrix, ws *Workspace) bool {
	b.byteCenter = c
	b.rows, b.groups = y.Rows, (y.Cols+byteGroup-1)/byteGroup
	panels := panelCount(y.Rows)
	b.words = Resize(b.words, panels*b.groups*byteWidth)
	b.terms = Resize(b.terms, panels*byteTerms)
	if !b.scales(s, y) {
		return false
	}
	b.exact = b.whole && !b.cosine // until one is not
	b.rounded = Resize(b.rounded, panels)
	clear(b.rounded)
	ws.divide(panels, 1, func(sc *scratch, from, to int) {
		sc.words = Resize(sc.words, byteWidth*b.groups)
		for p := from; p < to; p++ {
			b.packPanel(s, p, y.RowRange(p*byteWidth, min(y.Rows, (p+1)*byteWidth)), sc)
		}
	})
	if b.exact && slices.Contains(b.rounded, true) {
		b.exact = false
		for p := range panels {
			b.lowerNorms(b.terms[p*byteTerms:][:byteTerms])
		}
	}
	return true
}

// lowerNorms takes from the norms of a panel, which are as they were measured, what a tile may lose.
func (b *byteBase) lowerNorms(terms []float32) {
	for j, v := range terms[:byteWidth] {
		norm := float64(v)
		away := float64(b.away * float64(terms[2*byteWidth+j]))
		terms[j] = float32(norm - float64(byteScan*math.Abs(norm)) - away/(2*b.scale))
	}
}

// scales finds the scale of the units, from the rows of the sample: rows that are larger are treated as not finite.
func (b *byteBase) scales(s *Set, y Matrix) bool {
	var lanes byteLanes
	var buf []float32
	most := 0.0
	b.least = 0
	some := min(y.Rows, byteSample)
	for i := range some {
		if r := b.measure(s.bytes, b.direction(&buf, y.Row(sampled(i, some, y.Rows))), &lanes); r.norm == r.norm {
			most = max(most, r.unit)
		}
	}
	_, exponent := math.Frexp(most)
	b.scale = math.Ldexp(1, exponent)
	b.least = float64(byteNear * b.scale)
	return most > 0x1p-200 && !(b.offset > float64(byteFar*b.scale))
}

// usable reports whether the terms of a row are within float32: byteNear and its inverse times the scale.
func (b *byteBase) usable(r *roundedRow) bool {
	return r.norm == r.norm && r.unit <= b.scale/byteNear
}

// packPanel packs up to byteWidth rows. sc.words is memory for them, a row each.
func (b *byteBase) packPanel(s *Set, p int, y Matrix, sc *scratch) {
	words := sc.words
	terms := b.terms[p*byteTerms:][:byteTerms]
	for j := range byteWidth {
		b.setTerms(terms, j, &roundedRow{norm: math.NaN(), unit: b.scale})
		at := words[j*b.groups : (j+1)*b.groups]
		if j >= y.Rows {
			clear(at)
			continue
		}
		x := b.direction(&sc.direction, y.Row(j))
		r := b.measure(s.bytes, x, &sc.lanes)
		if !b.usable(&r) {
			b.rounded[p] = true
			clear(at)
			continue
		}
		b.round(s.bytes, &r, bytesOf(at), x, byteLift, &sc.lanes)
		b.rounded[p] = b.rounded[p] || !r.exact
		b.setTerms(terms, j, &r)
	}
	panel := panel{panelKernel: &panelKernel{width: byteWidth}, cols: byteWidth,
		data: floatsOf(b.words[p*b.groups*byteWidth:][:b.groups*byteWidth])}
	s.matrix.packPanel(&panel, Matrix{Data: floatsOf(words), Rows: byteWidth, Cols: b.groups, Stride: b.groups})
}

// setTerms sets the terms of row j of a panel.
func (b *byteBase) setTerms(terms []float32, j int, r *roundedRow) {
	terms[j] = float32(math.Inf(-1))
	if r.norm == r.norm {
		norm := r.norm
		if !b.exact {
			norm -= float64(byteScan*math.Abs(r.norm)) + float64(b.away*r.length)
		}
		terms[j] = float32(norm / float64(2*float64(r.unit*b.scale)))
	}
	terms[byteWidth+j] = float32(b.scale / r.unit)
	terms[2*byteWidth+j] = float32(r.length / r.unit)
	terms[3*byteWidth+j] = float32(r.lost / r.unit)
}

// valid has a bit for each row of a panel that is not padding.
func (b *byteBase) valid(p int) uint64 {
	if rest := b.rows - p*byteWidth; rest < byteWidth {
		return 1<<rest - 1
	}
	return math.MaxUint64
}
