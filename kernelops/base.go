package kernelops

// Base is rows to search, made ready once for many searches. The zero Base is ready for Pack.
type Base struct {
	set     *Set
	rows    Matrix
	bytes   byteBase
	packed  bool // as bytes too
	known   bool // norms are
	norms   []float32
	low     []float32 // norms less their share of the error
	lengths []float64 // of cosines
	left    []bool    // queries that 8 bits are of no use to
	asked   int       // queries of all calls of Keep, and how many they were at the last trial
	tried   int

	guesses guesses
}

// Pack is PackFor queries that are like the rows.
func (b *Base) Pack(s *Set, y Matrix, queries int, ws *Workspace) {
	b.PackFor(s, y, y, nil, queries, ws)
}

// PackFor takes the rows of y, which must stay as they are while they are searched, in the place of those before. Sets
// with code for it keep them in 8 bits a value as well, where a sample of them and of x, some of the queries to come,
// says that this helps, and where the number of all queries to come is worth it. Where most is not nil, row i of x has
// no interest in rows farther than most[i]: bytes help the more, the lower these are.
func (b *Base) PackFor(s *Set, y, x Matrix, most []float64, queries int, ws *Workspace) {
	b.pack(s, y, byteTrial{x: x, most: most, queries: queries}, byteKind{}, ws)
}

// Keep is PackFor the same rows as in the calls before, which may have moved, for the queries x and those that there
// will be: it expects as many as there were, and packs rows as bytes once that pays.
func (b *Base) Keep(s *Set, y, x Matrix, ws *Workspace) {
	if y.Rows != b.rows.Rows { // other rows
		b.asked, b.tried, b.packed, b.known = 0, 0, false, false
	}
	b.asked += x.Rows
	if b.tried > 0 && (b.packed || b.asked < 2*b.tried) {
		b.rows = y
		return
	}
	b.tried = b.asked
	b.PackFor(s, y, x, nil, b.asked, ws)
}

func (b *Base) pack(s *Set, y Matrix, t byteTrial, kind byteKind, ws *Workspace) {
	checkPair(t.x, y)
	if t.most != nil && len(t.most) != t.x.Rows {
		panic("kernelops: limits have the wrong length")
	}
	b.set, b.rows, b.known, b.bytes.byteKind = s, y, false, kind
	b.packed = s.bytes != nil && b.bytesPay(y, t, ws) && b.bytes.pack(s, y, ws)
}

// bytesPay reports whether a search by bytes takes less time than one by float32.
func (b *Base) bytesPay(y Matrix, t byteTrial, ws *Workspace) bool {
	kind := b.bytes.byteKind
	slow := !kind.products && slowInFloat(y)
	if !slow && !BytesPay(y.Rows, y.Cols, t.queries, kind.products) || slow && !slowPays(y.Rows, y.Cols, t.queries) {
		return false
	}
	pays := kind.products || slow || distancesPay(y.Rows, y.Cols, t.queries)
	if !pays && !seemWhole(y) {
		return false
	}
	helps, exact := t.helps(b.set, y, kind, ws)
	return helps && (pays || exact)
}

// Search is that of Set for the rows of the base. Where most is not nil, it leaves out what is farther from row i of x
// than most[i], which makes it faster.
func (b *Base) Search(ids []int, dists []float64, k int, x Matrix, most []float64, ws *Workspace) {
	checkTop(ids, len(dists), k, x, b.rows)
	if b.bytes.products {
		panic("kernelops: the base is packed for products")
	}
	if most != nil && len(most) != x.Rows {
		panic("kernelops: limits have the wrong length")
	}
	bytes := b.packed && b.rows.Rows/leastByteShare >= k
	if bytes && b.mayGuess(x, most) {
		b.searchGuessed(ids, dists, k, x, ws)
		return
	}
	b.search(ids, dists, k, x, most, bytes, ws)
}

// search is Search, by bytes or not.
func (b *Base) search(ids []int, dists []float64, k int, x Matrix, most []float64, bytes bool, ws *Workspace) {
	if x.Rows == 0 {
		return
	}
	s, few := b.set, x.Rows <= fewQueries
	if !bytes {
		b.measure(x, ws)
	}
	grain := maxWidth
	if few {
		grain = 1
	}
	ws.divide(x.Rows, grain, func(sc *scratch, from, to int) {
		some := most
		if most != nil {
			some = most[from:to]
		}
		q := newQueries(s, k, x.RowRange(from, to), b.rows, some)
		q.run(s, b, bytes, sc)
		for i := range q.list {
			q.list[i].best.store(ids[(from+i)*k:(from+i+1)*k], dists[(from+i)*k:], q.list[i].most)
		}
	})
}

// run searches the rows of a base, by bytes or not.
func (q *queries) run(s *Set, b *Base, bytes bool, sc *scratch) {
	switch {
	case s.matrix == nil || q.x.Cols == 0:
		q.generic()
	case bytes:
		q.throughBytes(s, &b.bytes, sc)
	case q.x.Rows <= fewQueries:
		q.each(s, sc)
	default:
		q.together(s, b, sc)
	}
}

// leastByteShare: of so few rows for each neighbor, most are scored anyway.
const leastByteShare = 32

// measure makes sure of the norms, where a search for x in float32 needs them.
func (b *Base) measure(x Matrix, ws *Workspace) {
	if b.known || b.set.matrix == nil || x.Cols == 0 || x.Rows <= fewQueries {
		return
	}
	b.norms = b.set.norms(measure{kind: sqDist}, Resize(b.norms, b.rows.Rows), b.rows, ws)
	b.low = newFilter(b.rows.Cols).lowNorms(Resize(b.low, b.rows.Rows), b.norms)
	b.known = true
}
