package vocabulary

import "github.com/gram-compute/gram/dataset"

// Known reads dense vectors of counts, some of which are missing (NaN), as sparse ones of those that are known. The
// columns keep their numbers, from 0. It keeps memory between blocks: one goroutine.
type Known struct {
	block   dataset.Block
	missing []int32
	ends    []int
}

// Read returns a block of the known counts, valid until the next call. Records that are no dense vectors are a fault
// with the position of the first. It takes time linear in the values.
func (k *Known) Read(block *dataset.Block) (*dataset.Block, error) {
	if len(block.IDs) > 0 && (block.Dense.Width == 0 || block.Texts != nil || block.Categories.Width > 0) {
		return nil, block.IDs[0].Fault("the record is no dense vector of counts alone, which features.missing: omit takes").
			WithHint("Name columns of numbers in spec.input.features, and neither text nor categorical; texts and sparse " +
				"vectors have no missing counts, and go without features.missing.")
	}
	k.missing, k.ends = k.missing[:0], append(k.ends[:0], 0)
	s := dataset.Sparse{Width: block.Dense.Width, Indptr: append(k.block.Sparse.Indptr[:0], 0),
		Indices: k.block.Sparse.Indices[:0], Values: k.block.Sparse.Values[:0]}
	for i := range block.IDs {
		for j, v := range block.Dense.Row(i) {
			switch {
			case v != v:
				k.missing = append(k.missing, int32(j))
			case v != 0:
				s.Indices, s.Values = append(s.Indices, int32(j)), append(s.Values, v)
			}
		}
		s.Indptr, k.ends = append(s.Indptr, len(s.Values)), append(k.ends, len(k.missing))
	}
	k.block = dataset.Block{IDs: block.IDs, Places: block.Places, Labels: block.Labels, Weights: block.Weights,
		Groups: block.Groups, Folds: block.Folds, Sparse: s}
	return &k.block, nil
}

// Missing returns the columns that record i of the block misses, ascending.
func (k *Known) Missing(i int) []int32 { return k.missing[k.ends[i]:k.ends[i+1]] }

// OfKnown lets the builder read dense vectors. refuse, where it is not nil, is the fault of a training record that
// misses the count of a column.
func (b *Builder) OfKnown(refuse func(id dataset.Identity, column int32) error) {
	b.known, b.refuse = true, refuse
}

// refuseMissing is the fault of a training record that misses what it may not.
func (b *Builder) refuseMissing(k *Known, id dataset.Identity, i int) error {
	if b.known && b.refuse != nil && len(k.Missing(i)) > 0 {
		return b.refuse(id, k.Missing(i)[0])
	}
	return nil
}
