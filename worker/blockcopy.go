package worker

import (
	"slices"
	"unsafe"

	"github.com/gram-compute/gram/dataset"
)

// blockBytes is what a copy of a block takes in memory.
func blockBytes(b *dataset.Block) int64 {
	const header = int64(unsafe.Sizeof([]byte(nil)))
	n := int64(unsafe.Sizeof(*b))
	for _, texts := range [][][]byte{b.Labels, b.Texts, b.Categories.Values} {
		for _, text := range texts {
			n += header + int64(len(text))
		}
	}
	n += int64(len(b.IDs)+len(b.Places)) * int64(unsafe.Sizeof(dataset.Identity{}))
	if b.Places != nil { // else the strings are keys of objects, and shared
		for _, id := range b.IDs {
			n += int64(len(id.Object))
		}
	}
	n += 4 * int64(len(b.Weights)+len(b.Dense.Values)+len(b.Sparse.Indices)+len(b.Sparse.Values))
	n += 8 * int64(len(b.Sparse.Indptr)+len(b.Groups))
	n += int64(len(b.Subtracted)) * int64(unsafe.Sizeof(dataset.Offset{}))
	if b.Notes != nil {
		n += int64(unsafe.Sizeof(*b.Notes)) + int64(len(b.Notes.Rounded))*int64(unsafe.Sizeof(dataset.Rounding{}))
	}
	for _, s := range b.Skipped {
		n += int64(unsafe.Sizeof(s)) + int64(len(s.Reason))
	}
	return n
}

// copyBlock copies a block with all that it refers to, except the strings, which nobody can change.
func copyBlock(b *dataset.Block) *dataset.Block {
	return &dataset.Block{
		IDs: slices.Clone(b.IDs), Places: slices.Clone(b.Places), Labels: copyTexts(b.Labels),
		Texts: copyTexts(b.Texts), Weights: slices.Clone(b.Weights), Groups: slices.Clone(b.Groups),
		Dense: dataset.Dense{Width: b.Dense.Width, Values: slices.Clone(b.Dense.Values)},
		Sparse: dataset.Sparse{Width: b.Sparse.Width, Indptr: slices.Clone(b.Sparse.Indptr),
			Indices: slices.Clone(b.Sparse.Indices), Values: slices.Clone(b.Sparse.Values)},
		Categories: dataset.Categories{Width: b.Categories.Width, Values: copyTexts(b.Categories.Values)},
		Skipped:    slices.Clone(b.Skipped), Notes: b.Notes, Subtracted: b.Subtracted, Rest: b.Rest, Lasting: true,
	}
}

// copyTexts copies texts into one piece of memory; nil stays nil.
func copyTexts(texts [][]byte) [][]byte {
	if texts == nil {
		return nil
	}
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	all, copies := make([]byte, 0, size), make([][]byte, len(texts))
	for i, text := range texts {
		begin := len(all)
		all = append(all, text...)
		copies[i] = all[begin:len(all):len(all)]
	}
	return copies
}
