package linearmodel

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/dual"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
)

// record is a training record.
type record struct {
	dual.Row
	number int // in its block
	class  int
	target float64 // what its score is to be, with its side as a sign
	cost   float64
	square float64
}

// read gives the vectors of the leaf's own block to visit, with what they are from.
func (j job) read(
	ctx context.Context, s *training, leaf jobs.Leaf, visit func(v features.Vectors, part jobs.Part) error,
) error {
	reader, train := s.space.NewReader(), j.Train()
	if s.rounds > 0 {
		reader.Trust() // the first round looked at all values
	}
	for part, err := range leaf.ReadBlock(ctx, jobs.Input, leaf.Index) {
		if err == nil {
			err = ctx.Err()
		}
		var v features.Vectors
		if err == nil {
			v, err = reader.Read(part.Block, train)
		}
		if err == nil {
			err = visit(v, part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recordOf is row i of some vectors, with the labels of the block they are from: the record of that number in its own.
func (s *training) recordOf(
	v features.Vectors, labels [][]byte, i, number int, ops *kernelops.Set,
) (record, error) {
	r := record{Row: s.vector(v, i, ops), number: number, target: s.loss.Target()}
	if s.regresses {
		target, err := targetOf(labels, v, i)
		if err != nil {
			return record{}, err
		}
		r.target = target
	} else if r.class = int(v.Class[i]); r.class < 0 {
		return record{}, features.Unseen(v.IDs[i])
	}
	r.cost = s.costs[r.class]
	if v.Weights != nil {
		r.cost = float64(r.cost * float64(v.Weights[i]))
	}
	r.square = r.Square()
	return r, nil
}

// vector is row i of some vectors.
func (m *model) vector(v features.Vectors, i int, ops *kernelops.Set) dual.Row {
	x := dual.Row{Bias: m.biasScale, Ops: ops}
	if v.Sparse.Width > 0 {
		x.Index, x.Values = v.Sparse.Row(i)
	} else {
		x.Values = v.Dense.Row(i)
	}
	return x
}

// carried is a number of each record and machine that a leaf carries from one round to the next: none before the first.
type carried []float64

// at is that of one record and machine.
func (c carried) at(i int) (float64, error) {
	switch {
	case len(c) == 0:
		return 0, nil
	case i >= len(c):
		return 0, jobs.Malformed("%d coefficients are carried, fewer than the block has", len(c))
	}
	return c[i], nil
}

// checkLen refuses coefficients of a block of another size.
func (c carried) checkLen(want int) error {
	if len(c) > 0 && len(c) != want {
		return jobs.Malformed("%d coefficients are carried for a block of %d", len(c), want)
	}
	return nil
}
