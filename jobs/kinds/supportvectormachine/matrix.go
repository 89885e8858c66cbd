package supportvectormachine

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/semidefinite"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// matrixPhase looks at a given matrix before training: whether it is square, symmetric and positive semidefinite. Of up
// to semidefinite.MaxOrder columns it gathers the rows, and proves what it can. Of more it goes over the rows twice:
// sums of hashes tell whether the matrix is symmetric, and then its minors of two rows are looked at.
type matrixPhase struct{ job }

const matrixName = "matrix"

func (p *matrixPhase) phase() jobs.Phase {
	return jobs.MapReduce[*training, *look]{
		Name: matrixName, State: jobs.Load[training], Partial: func() *look { return new(look) },
		Map: p.leaf, Merge: (*look).plus, Step: p.step,
	}.Phase()
}

// matrixOf begins a given kernel over a space.
func (j job) matrixOf(space *features.Space) (*given, error) {
	switch n := space.Width; {
	case space.Texts():
		return nil, protocol.InputFault(protocol.CodeBadRecord, "the records are texts; with kernel precomputed a record is "+
			"its kernel values with all records").WithHint("Choose another kernel, or give numbers.")
	case j.Params.Clip && n > j.most:
		return nil, protocol.InputFault(protocol.CodeInputLimit, "a matrix of %d columns is too large to be clipped: the "+
			"time grows with their cube, so up to %d are taken", n, j.most).
			WithHint("Leave params.clip out: a matrix of more columns is trained on as it is, without a proved gap.")
	}
	return &given{columns: space.Width}, nil
}

// look is what leaves saw of a matrix, over consecutive records.
type look struct {
	columns  int
	trained  []uint8 // 1 of records to learn from
	gathers  bool
	rows     []float32 // [records x columns] of a matrix that is gathered
	diagonal []float32 // of one that is not
	balance  []uint64  // by column, see hashes
	dominant float64   // the least that a diagonal value is above the sum of its row
	pair     pair      // of the second pass
	column   []float32 // of the second pass: the values of the column that is not symmetric
	row      []float32 // and its row, where it is among the records
}

// Fields lists the look.
func (l *look) Fields(f *jobs.Fields) {
	f.Int("columns", &l.columns, 1, protocol.MaxWidth)
	jobs.List(f, "trained", &l.trained)
	n := len(l.trained)
	if l.gathers = f.Has("rows", l.gathers); l.gathers {
		jobs.List(f, "rows", &l.rows, n, l.columns)
		return
	}
	jobs.List(f, "diagonal", &l.diagonal, n)
	jobs.List(f, "balance", &l.balance)
	jobs.Scalar(f, "dominant", &l.dominant)
	jobs.Tuple(f, "pair", &l.pair.row, &l.pair.column)
	jobs.Scalar(f, "pair.value", &l.pair.value)
	jobs.List(f, "column", &l.column)
	jobs.List(f, "row", &l.row)
}

// plus joins what two neighbors saw.
func (l *look) plus(right *look) (*look, error) {
	if l.columns != right.columns || l.gathers != right.gathers || len(l.balance) != len(right.balance) {
		return nil, jobs.Malformed("matrices of %d and %d columns", l.columns, right.columns)
	}
	both := &look{columns: l.columns, gathers: l.gathers, pair: l.pair, dominant: min(l.dominant, right.dominant),
		trained: joined(l.trained, right.trained), rows: joined(l.rows, right.rows),
		diagonal: joined(l.diagonal, right.diagonal), balance: joined(l.balance, nil),
		column: joined(l.column, right.column), row: joined(l.row, right.row)}
	for j, v := range right.balance {
		both.balance[j] += v
	}
	if !both.pair.found() {
		both.pair = right.pair
	}
	return both, nil
}

// leaf looks at the records of a block.
func (p *matrixPhase) leaf(ctx context.Context, s *training, leaf jobs.Leaf, _ *kernelops.Set) (*look, error) {
	n := s.space.Width
	if records := leaf.First(jobs.Input, leaf.Plan.Shards); records != int64(n) {
		return nil, notSquare(records, n)
	}
	l := &look{columns: n, gathers: n <= p.most, dominant: math.Inf(1)}
	if !l.gathers && s.seen == nil {
		l.balance = make([]uint64, n)
	}
	reader, keep := s.space.NewReader(), p.Train()
	var dense []float32
	for part, err := range leaf.ReadBlock(ctx, jobs.Input, leaf.Index) {
		if err != nil {
			return nil, err
		}
		v, err := reader.Read(part.Block, nil) // held-out records too: they have columns
		if err != nil {
			return nil, err
		}
		next := int(part.First)
		err = rows.Chunks(ctx, v, max(1, rows.TileFloats/n), &dense, func(c rows.Chunk) error {
			for i := range c.IDs {
				trained := uint8(0)
				if keep(part.Block, next-int(part.First)) {
					trained = 1
				}
				l.add(c.X.Row(i), next, trained, s.seen)
				next++
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

// step says what is proved, and begins the training.
func (p *matrixPhase) step(ctx context.Context, s *training, all *look, round jobs.Round) (jobs.Next, error) {
	n := s.space.Width
	if all.columns != n || len(all.trained) != n || all.gathers != (n <= p.most) {
		return jobs.Next{}, jobs.Malformed("%d records of %d columns were seen, of a matrix of %d", len(all.trained),
			all.columns, n)
	}
	s.own()
	g := *s.given
	s.given = &g
	next := jobs.Next{Phase: trainName, Trees: []int{round.Plan.Blocks}}
	var err error
	switch {
	case all.gathers:
		err = p.prove(ctx, s, all)
	case s.seen == nil:
		s.seen, err = seenOf(all)
		next.Phase = matrixName
	default:
		err = s.seen.judge(all)
		if s.seen.dominant >= 0 {
			g.verdict, g.least = verdictHolds, semidefinite.Least{Low: 0, High: math.MaxFloat64}
		}
		s.seen = nil
	}
	if err != nil {
		return jobs.Next{}, err
	}
	next.State = jobs.ArraysOf(s)
	return next, nil
}

// prove says what is proved of the matrix of the training records, and changes it where that is needed and asked for.
func (p *matrixPhase) prove(ctx context.Context, s *training, all *look) error {
	n := s.space.Width
	if err := symmetric(all.rows, n); err != nil {
		return err
	}
	var ordinals []int
	for i, t := range all.trained {
		if t == 1 {
			ordinals = append(ordinals, i)
		}
	}
	m, ops, g := len(ordinals), kernelops.Best(), s.given // the values do not depend on the set
	part := make([]float32, 0, m*m)
	for _, i := range ordinals {
		for _, j := range ordinals {
			part = append(part, all.rows[i*n+j])
		}
	}
	var err error
	if g.least, err = semidefinite.Prove(ctx, part, m, ops); err != nil {
		return err
	}
	switch {
	case g.least.Proved():
		g.verdict = verdictHolds
	case !g.least.Refuted():
		g.verdict, g.added = verdictRounding, g.least.Shift()
	case !p.Params.Clip:
		return indefinite(g.least, m)
	default:
		return s.clipTo(ctx, part, ordinals, ops)
	}
	return nil
}

// clipTo sets the negative eigenvalues of the matrix of the training records to 0.
func (s *training) clipTo(ctx context.Context, part []float32, ordinals []int, ops *kernelops.Set) error {
	n, m, g := s.space.Width, len(ordinals), s.given
	clipped, err := semidefinite.Clip(ctx, part, m, ops)
	if err != nil {
		return err
	}
	if !jobs.Finite(clipped.Values) {
		return tooLarge()
	}
	least, err := semidefinite.Prove(ctx, clipped.Values, m, ops)
	if err != nil {
		return err
	}
	g.verdict, g.negative, g.added = verdictClipped, int64(clipped.Negative), least.Shift()
	s.clip = &clip{values: make([]float32, n*n), Projection: semidefinite.Projection{Outside: clipped.Outside}}
	for a, i := range ordinals {
		for b, j := range ordinals {
			s.clip.values[i*n+j] = clipped.Values[a*m+b]
		}
	}
	for at := 0; at < len(clipped.Onto); at += m {
		wide := make([]float64, n)
		for a, i := range ordinals {
			wide[i] = clipped.Onto[at+a]
		}
		s.clip.Onto = append(s.clip.Onto, wide...)
	}
	return nil
}

// matrixFields lists what a state has of a given matrix.
func (s *training) matrixFields(f *jobs.Fields) {
	if f.Has(clipValues, s.clip != nil) {
		jobs.Make(f, &s.clip).Fields(f, s.space.Width)
	}
	if f.Has(seenDiagonal, s.seen != nil) {
		jobs.Make(f, &s.seen).Fields(f, s.space.Width)
	}
}
