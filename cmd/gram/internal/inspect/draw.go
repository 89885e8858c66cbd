package inspect

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/kernelops/philox"
)

// Record is a record as people look at it.
type Record struct {
	ID      dataset.Identity `json:"id"`
	Label   *string          `json:"label,omitempty"`
	Weight  *float32         `json:"weight,omitempty"`
	Text    *string          `json:"text,omitempty"`
	Width   int              `json:"width,omitempty"`
	Values  []Number         `json:"values,omitempty"`  // of a dense vector, or the entries of a sparse one
	Indices []int32          `json:"indices,omitempty"` // of a sparse one, from index_base or 0
	// Categories are in the order of spec.input.categorical. Groups are known by their hashes alone, and left out.
	Categories []string `json:"categories,omitempty"`
	draw       uint64
}

// Number is a float32; missing is null in JSON.
type Number float32

// MarshalJSON writes the shortest number that reads back as the same float32.
func (n Number) MarshalJSON() ([]byte, error) {
	if n != n {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', -1, 32), nil
}

// draw keeps the records with the least draws for their identities: the same ones whatever the shards. O(n log few).
type draw struct {
	draws *dataset.Draws
	few   int
	base  int32     // of the numbers of columns
	kept  []*Record // ascending
}

func newDraw(seed uint64, few int, base int32) *draw {
	return &draw{draws: dataset.NewDraws(philox.New(seed, "sample")), few: few, base: base}
}

func order(a, b *Record) int { return cmp.Or(cmp.Compare(a.draw, b.draw), a.ID.Compare(b.ID)) }

func (d *draw) add(block *dataset.Block) {
	for i, id := range block.IDs {
		r := &Record{ID: id, draw: d.draws.Uint64(id)}
		full := len(d.kept) >= d.few
		if d.few == 0 || full && order(r, d.kept[d.few-1]) >= 0 {
			continue
		}
		r.fill(block, i, d.base)
		at, _ := slices.BinarySearchFunc(d.kept, r, order)
		d.kept = slices.Insert(d.kept, at, r)
		d.kept = d.kept[:min(len(d.kept), d.few)]
	}
}

func (d *draw) records() []*Record { return d.kept }

// fill copies a record.
func (r *Record) fill(block *dataset.Block, i int, base int32) {
	text := func(list [][]byte) *string {
		if list == nil {
			return nil
		}
		s := string(list[i])
		return &s
	}
	r.Label, r.Text = text(block.Labels), text(block.Texts)
	if block.Weights != nil {
		w := block.Weights[i]
		r.Weight = &w
	}
	if block.Categories.Width > 0 {
		for _, category := range block.Categories.Row(i) {
			r.Categories = append(r.Categories, string(category))
		}
	}
	var values []float32
	switch {
	case block.Dense.Width > 0:
		r.Width, values = block.Dense.Width, block.Dense.Row(i)
	case block.Sparse.Width > 0:
		var index []int32
		index, values = block.Sparse.Row(i)
		r.Width, r.Indices = block.Sparse.Width, slices.Clone(index)
		for k := range r.Indices {
			r.Indices[k] += base
		}
	}
	for _, v := range values {
		r.Values = append(r.Values, Number(v))
	}
}

// indexBase is the number of the first column of sparse vectors in the data set.
func (o *Opened) indexBase() int32 {
	if b := o.input.IndexBase; b != nil {
		return int32(*b)
	}
	return 0
}

// Sample returns up to n records, in the order of their draws by the seed.
func (o *Opened) Sample(ctx context.Context, seed uint64, n int) ([]*Record, error) {
	d := newDraw(seed, n, o.indexBase())
	for block, err := range o.blocks(ctx) {
		if err != nil {
			return nil, err
		}
		d.add(block)
	}
	return d.records(), nil
}
