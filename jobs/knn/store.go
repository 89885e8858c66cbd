package knn

import (
	"math"

	"github.com/gram-compute/gram/jobs"
)

// put stores rows.
func (p *points) put(a jobs.Arrays) {
	jobs.Put(a, baseIDs, p.ids)
	if p.target != nil {
		jobs.Put(a, baseTarget, p.target)
	}
	switch {
	case p.rows == 0:
	case p.texts != nil:
		var texts jobs.Strings
		for _, t := range p.texts {
			texts.Append([]byte(string(t)))
		}
		a.PutStrings(baseTexts, texts)
	case p.words > 0:
		jobs.Put(a, baseBits, p.bits, p.rows, p.words)
	case p.sparse.indptr != nil:
		indptr := make([]int64, len(p.sparse.indptr))
		for i, e := range p.sparse.indptr {
			indptr[i] = int64(e)
		}
		jobs.Put(a, baseIndptr, indptr)
		jobs.Put(a, baseIndices, p.sparse.indices)
		jobs.Put(a, baseValues, p.sparse.values)
	default:
		jobs.Put(a, baseDense, p.dense, p.rows, p.width)
	}
}

// getPoints reads rows of the form of like, whose own rows are none.
func getPoints(a jobs.Arrays, like points) (*points, error) {
	p, err := getAnyPoints(a)
	if err != nil {
		return nil, err
	}
	form := func(p *points) [4]bool {
		return [4]bool{p.words > 0, p.sparse.indptr != nil, p.texts != nil, p.target != nil}
	}
	texts := like.width == 0
	if want := [4]bool{like.words > 0, like.sparse.indptr != nil, texts, like.target != nil}; p.rows > 0 && form(p) != want {
		return nil, jobs.Malformed("a stored base is of another form than its space")
	}
	if p.words != like.words || p.sparse.indptr == nil && like.words == 0 && p.width != like.width {
		return nil, jobs.Malformed("a stored base of width %d in a space of width %d", p.width, like.width)
	}
	p.width = like.width
	return p, p.checkSparse()
}

// checkSparse holds columns against the width.
func (p *points) checkSparse() error {
	for i := range p.rows {
		if p.sparse.indptr == nil {
			return nil
		}
		row := p.sparse.indices[p.sparse.indptr[i]:p.sparse.indptr[i+1]]
		for e, j := range row {
			if j < 0 || int(j) >= p.width || e > 0 && j <= row[e-1] {
				return jobs.Malformed("row %d of the base: columns do not ascend below %d", i, p.width)
			}
		}
	}
	return nil
}

// getAnyPoints reads rows of whatever form.
func getAnyPoints(a jobs.Arrays) (*points, error) {
	p := &points{}
	var err error
	if p.ids, err = jobs.Get[int64](a, baseIDs); err != nil {
		return nil, err
	}
	p.rows = len(p.ids)
	for i, id := range p.ids {
		if id < 0 || i > 0 && id <= p.ids[i-1] {
			return nil, jobs.Malformed("the ids of the base do not ascend at row %d", i)
		}
	}
	if _, ok := a[baseTarget]; ok {
		if p.target, err = jobs.Get[float64](a, baseTarget, p.rows); err != nil {
			return nil, err
		}
	}
	return p, p.getRows(a)
}

func (p *points) getRows(a jobs.Arrays) (err error) {
	has := func(name string) bool { _, ok := a[name]; return ok }
	switch {
	case p.rows == 0:
		return nil
	case has(baseBits):
		if p.bits, err = jobs.Get[uint64](a, baseBits, p.rows, -1); err == nil {
			p.words = len(p.bits) / p.rows
		}
	case has(baseIndptr):
		return p.getSparse(a)
	case has(baseTexts + ".bytes"):
		texts, err := a.Strings(baseTexts)
		if err != nil {
			return err
		}
		if texts.Len() != p.rows {
			return jobs.Malformed("%d texts of %d records", texts.Len(), p.rows)
		}
		for i := range texts.Len() {
			p.texts = append(p.texts, []rune(string(texts.At(i))))
		}
	default:
		if p.dense, err = jobs.Get[float32](a, baseDense, p.rows, -1); err == nil {
			p.width = len(p.dense) / p.rows
			err = finite(p.dense)
		}
	}
	return err
}

func (p *points) getSparse(a jobs.Arrays) error {
	indptr, err := jobs.Get[int64](a, baseIndptr, p.rows+1)
	if err != nil {
		return err
	}
	if p.sparse.indices, err = jobs.Get[int32](a, baseIndices); err != nil {
		return err
	}
	if p.sparse.values, err = jobs.Get[float32](a, baseValues, len(p.sparse.indices)); err != nil {
		return err
	}
	if !spans(indptr, len(p.sparse.indices)) {
		return jobs.Malformed("the rows of the base do not span their entries")
	}
	p.sparse.indptr = make([]int, len(indptr))
	for i, e := range indptr {
		p.sparse.indptr[i] = int(e)
	}
	return finite(p.sparse.values)
}

func finite(values []float32) error {
	for i, v := range values {
		if !(math.Abs(float64(v)) <= math.MaxFloat32) {
			return jobs.Malformed("value %d of the base is %v", i, v)
		}
	}
	return nil
}
