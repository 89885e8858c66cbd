package evaluation

import "github.com/gram-compute/gram/dataset"

// Selection copies the chosen records of a block. It keeps its memory between calls.
type Selection struct{ block dataset.Block }

// Of returns a block of the records that keep chooses, valid until the next call and the next
// block; a block that is chosen whole is returned as it is.
func (s *Selection) Of(block *dataset.Block, keep func(dataset.Identity) bool) *dataset.Block {
	s.reset(block)
	for i, id := range block.IDs {
		if keep(id) {
			s.add(block, i)
		}
	}
	if len(s.block.IDs) == len(block.IDs) {
		return block
	}
	return &s.block
}

// reset empties the selection and gives it the fields of a block.
func (s *Selection) reset(block *dataset.Block) {
	b := &s.block
	b.IDs = b.IDs[:0]
	b.Labels = emptied(b.Labels, block.Labels)
	b.Texts = emptied(b.Texts, block.Texts)
	b.Weights = emptied(b.Weights, block.Weights)
	b.Dense = dataset.Dense{Width: block.Dense.Width, Values: b.Dense.Values[:0]}
	b.Sparse = dataset.Sparse{Width: block.Sparse.Width, Indptr: append(b.Sparse.Indptr[:0], 0),
		Indices: b.Sparse.Indices[:0], Values: b.Sparse.Values[:0]}
}

// emptied is memory of no elements, nil where the block has none.
func emptied[T any](memory, block []T) []T {
	switch {
	case block == nil:
		return nil
	case memory == nil:
		return []T{}
	}
	return memory[:0]
}

func (s *Selection) add(block *dataset.Block, i int) {
	b := &s.block
	b.IDs = append(b.IDs, block.IDs[i])
	if block.Labels != nil {
		b.Labels = append(b.Labels, block.Labels[i])
	}
	if block.Texts != nil {
		b.Texts = append(b.Texts, block.Texts[i])
	}
	if block.Weights != nil {
		b.Weights = append(b.Weights, block.Weights[i])
	}
	if block.Dense.Width > 0 {
		b.Dense.Values = append(b.Dense.Values, block.Dense.Row(i)...)
	}
	if block.Sparse.Width > 0 {
		index, value := block.Sparse.Row(i)
		b.Sparse.Indices, b.Sparse.Values = append(b.Sparse.Indices, index...), append(b.Sparse.Values, value...)
		b.Sparse.Indptr = append(b.Sparse.Indptr, len(b.Sparse.Values))
	}
}
