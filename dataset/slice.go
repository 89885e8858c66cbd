package dataset

// Slice returns records from up to, not including, to of the block, in the block's own memory: it is valid as long as
// the block is. Of sparse vectors it makes a new Indptr, unless it is the whole block. What reading noticed and skipped
// is not that of some records, and is left out, as is Rest.
func (b *Block) Slice(from, to int) *Block {
	part := &Block{IDs: b.IDs[from:to], Subtracted: b.Subtracted, Lasting: b.Lasting,
		Memo: b.Memo.of(from, to-from < len(b.IDs))}
	if b.Places != nil {
		part.Places = b.Places[from:to]
	}
	if b.Labels != nil {
		part.Labels = b.Labels[from:to]
	}
	if b.Texts != nil {
		part.Texts = b.Texts[from:to]
	}
	if b.Weights != nil {
		part.Weights = b.Weights[from:to]
	}
	if b.Groups != nil {
		part.Groups = b.Groups[from:to]
	}
	if b.Folds != nil {
		part.Folds = b.Folds[from:to]
	}
	if width := b.Dense.Width; width > 0 {
		part.Dense = Dense{Width: width, Values: b.Dense.Values[from*width : to*width]}
	}
	if width := b.Categories.Width; width > 0 {
		part.Categories = Categories{Width: width, Values: b.Categories.Values[from*width : to*width]}
	}
	if b.Sparse.Width > 0 {
		part.Sparse = b.Sparse.slice(from, to)
	}
	return part
}

// slice are some of the rows; entries stay where they are.
func (s Sparse) slice(from, to int) Sparse {
	begin, end := s.Indptr[from], s.Indptr[to]
	rows := Sparse{Width: s.Width, Indptr: s.Indptr[from : to+1], Indices: s.Indices[begin:end],
		Values: s.Values[begin:end]}
	if begin == 0 {
		return rows
	}
	rows.Indptr = make([]int, to-from+1)
	for i := range rows.Indptr {
		rows.Indptr[i] = s.Indptr[from+i] - begin
	}
	return rows
}
