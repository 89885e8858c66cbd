package features

import (
	"math"

	"github.com/gram-compute/gram/dataset"
)

// sparse returns the kept rows of a sparse block; a block that is kept whole and not scaled
// is not copied.
func (r *Reader) sparse(block *dataset.Block) (dataset.Sparse, error) {
	if len(block.IDs) > 0 && r.inPlace(block) {
		for i, id := range block.IDs {
			index, value := block.Sparse.Row(i)
			if err := r.check(id, value, index); err != nil {
				return dataset.Sparse{}, err
			}
		}
		return block.Sparse, nil
	}
	r.begin()
	for _, i := range r.records {
		index, value := block.Sparse.Row(i)
		start := len(r.values)
		r.indices, r.values = append(r.indices, index...), append(r.values, value...)
		r.indptr = append(r.indptr, len(r.values))
		row := r.values[start:]
		if err := r.scaleEntries(block.IDs[i], index, row); err != nil {
			return dataset.Sparse{}, err
		}
		if err := r.check(block.IDs[i], row, index); err != nil {
			return dataset.Sparse{}, r.blame(err, checkFinite(block.IDs[i], value, index))
		}
	}
	return r.rows(), nil
}

// bags returns the kept texts as counts of the dictionary's terms, or as sums by hashed column.
func (r *Reader) bags(block *dataset.Block) (dataset.Sparse, error) {
	r.begin()
	for _, i := range r.records {
		start := len(r.values)
		if r.hashed != nil {
			r.indices, r.values = r.hashed.bag(block.Texts[i], r.indices, r.values)
		} else {
			bag := r.bagger.BagIn(block, i)
			r.indices = append(r.indices, bag.Terms...)
			for _, n := range bag.Counts {
				r.values = append(r.values, float32(n))
			}
		}
		r.indptr = append(r.indptr, len(r.values))
		if err := r.scaleEntries(block.IDs[i], r.indices[start:], r.values[start:]); err != nil {
			return dataset.Sparse{}, err
		}
	}
	return r.rows(), nil
}

// encodedRows returns numbers and categories as sparse rows.
func (r *Reader) encodedRows(block *dataset.Block) (dataset.Sparse, error) {
	r.begin()
	for _, i := range r.records {
		start, id, row := len(r.values), block.IDs[i], r.fill(block.Dense.Row(i))
		if err := r.check(id, row, nil); err != nil {
			return dataset.Sparse{}, err
		}
		for j, v := range row {
			if v != 0 {
				r.indices, r.values = append(r.indices, int32(j)), append(r.values, v)
			}
		}
		if err := r.space.encoder.each(id, block.Categories.Row(i), func(column int) {
			r.indices, r.values = append(r.indices, int32(len(row)+column)), append(r.values, 1)
		}); err != nil {
			return dataset.Sparse{}, err
		}
		r.indptr = append(r.indptr, len(r.values))
		if err := r.scaleEntries(id, r.indices[start:], r.values[start:]); err != nil {
			return dataset.Sparse{}, err
		}
		if err := r.check(id, r.values[start:], r.indices[start:]); err != nil {
			return dataset.Sparse{}, r.blame(err, nil)
		}
	}
	return r.rows(), nil
}

func (r *Reader) begin() {
	r.indices, r.values, r.indptr = r.indices[:0], r.values[:0], append(r.indptr[:0], 0)
}

func (r *Reader) rows() dataset.Sparse {
	return dataset.Sparse{Width: r.space.Width, Indptr: r.indptr, Indices: r.indices, Values: r.values}
}

// scaleEntries scales the entries of a sparse row in place.
func (r *Reader) scaleEntries(id dataset.Identity, index []int32, row []float32) (err error) {
	switch w := r.space.rarity; {
	case w != nil:
		if r.exact, err = w.weigh(r.exact, id, index, row); err != nil {
			return err
		}
		round(row, r.exact, r.space.scale == ScaleL2)
	case r.space.scale == ScaleL2:
		normalize(row)
	case r.space.factor != nil:
		for k, j := range index {
			row[k] = scaled(row[k], 0, r.space.factor[j])
		}
	}
	return nil
}

// round rounds weighed entries, which it first divides by their Euclidean norm if unit is set and that is not 0.
func round(row []float32, exact []float64, unit bool) {
	norm := 1.0
	if unit {
		sum := 0.0
		for _, v := range exact {
			sum += float64(v * v)
		}
		if sum > 0 {
			norm = math.Sqrt(sum)
		}
	}
	for k, v := range exact {
		row[k] = float32(v / norm)
	}
}
