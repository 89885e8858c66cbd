package supportvectormachine

import (
	"context"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/centers"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/jobs/learn/smo"
	"github.com/gram-compute/gram/kernelops"
)

// coefficients are a leaf's carry: of each training record of its block, one of each for each slot.
type coefficients struct {
	alpha, f []float64 // [records x slots]
	held     []float64 // alike, of trainings without a record's fold; nil where no probabilities are asked for
	cluster  []int32   // [records], in the local phase
	idle     []uint8   // of each record the rounds that it was idle, see leftout.go; nil where none is left out
}

// Fields lists the coefficients.
func (c *coefficients) Fields(f *jobs.Fields) {
	jobs.List(f, "alpha", &c.alpha)
	jobs.List(f, "f", &c.f, len(c.alpha))
	jobs.Optional(f, "held", &c.held, len(c.alpha))
	jobs.Optional(f, "cluster", &c.cluster)
	jobs.Optional(f, "idle", &c.idle)
}

// walk goes over the records of a leaf's block.
type walk struct {
	*training
	*tally
	evaluator kernels.Evaluator
	coarse    kernels.Function // for what stage prove measures again
	before    coefficients
	after     coefficients
	chosen    []*smo.Candidates[member] // of each machine that chooses candidates
	moves     []moves                   // by class and cluster, what they do to the records of those
	moved     []float32                 // the rows of the moves of one class, and their points
	points    kernels.Points
	changed   map[int64][]int  // the working members of a record, by its ordinal
	places    map[uint64][]int // support vectors by the hash of their row, where margins are bounded
	dense     []float32
	trained   []float32 // rows of a given matrix that was changed
	groups    []group   // records of a chunk by class and cluster
	values    []float32
	sum, k    []float64
	rowsOf    kernels.ExactRows
	proof     *proofSums // of stage prove
	closing   *closing   // of stage close
	foldOf    func(r record) int
	start     *start         // of stages weigh and start
	race      *sampling.Race // of stage divide
	nearest   *centers.Nearest
	joining   [][]proofTerm // of stage join, by class
	detection evaluation.Detection
	shrinks   bool      // records may be left out
	carries   bool      // rows go with candidates
	copyOf    int64     // the record of copied
	copied    []float32 // the row that was copied last
}

// leaf goes once over the leaf's own block.
func (p *trainPhase) leaf(
	ctx context.Context, s *training, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set,
) (*tally, jobs.Arrays, error) {
	if s.stage == stageFetch {
		return p.fetch(ctx, s, leaf, carry)
	}
	w := p.newWalk(s, ops)
	if err := w.take(carry, leaf); err != nil {
		return nil, nil, err
	}
	reader, keep := s.space.NewReader(), p.Train()
	if s.rounds > 0 {
		reader.Trust() // the first round looked at all values
	}
	for part, err := range leaf.ReadBlock(ctx, jobs.Input, leaf.Index) {
		var v features.Vectors
		if err == nil {
			v, err = reader.Read(part.Block, keep)
		}
		for from := 0; err == nil && from < v.Rows; from += w.chunkRows() {
			if err = ctx.Err(); err == nil {
				err = w.chunk(v, from, min(from+w.chunkRows(), v.Rows), part)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if len(w.before.alpha) > 0 && len(w.before.alpha) != len(w.after.alpha) {
		return nil, nil, jobs.Malformed("%d coefficients are carried for a block of %d", len(w.before.alpha),
			len(w.after.alpha))
	}
	w.keepAll()
	if w.stage == stageHold {
		clear(w.after.alpha)
		clear(w.after.f)
	}
	w.pack()
	return w.tally, jobs.ArraysOf(&w.after), w.write(ctx, leaf, p.Params.SupportVectors)
}

// keepAll puts the candidates of all machines into the tally.
func (w *walk) keepAll() {
	n := 0
	for _, c := range w.chosen {
		if c != nil {
			n += max(len(c.Up()), len(c.Low()))
		}
	}
	w.up.reserve(n)
	w.low.reserve(n)
	for k, c := range w.chosen {
		if c != nil {
			w.extremes[k] = c.Extremes()
			w.keep(k, c)
		}
	}
}

// take begins with what the leaf carried.
func (w *walk) take(carry jobs.Arrays, leaf jobs.Leaf) error {
	if len(carry) > 0 {
		if _, err := jobs.Read(carry, &w.before); err != nil {
			return err
		}
		n := len(w.before.alpha)
		w.after = coefficients{alpha: make([]float64, 0, n), f: make([]float64, 0, n)}
	}
	return w.beginOneClass(leaf)
}

func (p *trainPhase) newWalk(s *training, ops *kernelops.Set) *walk {
	w := &walk{training: s, detection: p.detection, tally: newTally(s, p.candidates(s)),
		evaluator: kernels.Evaluator{Ops: ops},
		coarse:    s.kernel.Coarse(),
		rowsOf:    kernels.ExactRows{Exact: kernels.Exact{Kernel: s.kernel.Kernel}, Ops: ops},
		chosen:    make([]*smo.Candidates[member], s.machines().Machines()),
		foldOf:    p.foldsOf(),
		changed:   make(map[int64][]int), groups: make([]group, s.machines().groups()),
		joining: make([][]proofTerm, s.classes()), shrinks: s.shrinks()}
	switch s.stage {
	case stageTrain, stageJoin:
		w.carries = s.travels(p.Params.WorkingSet)
		for _, k := range s.active(p.Params.WorkingSet) {
			w.chosen[k] = smo.NewCandidates[member](w.most)
		}
	default:
		for k := range w.chosen {
			w.chosen[k] = smo.NewCandidates[member](1)
		}
		w.most = 1
	}
	switch {
	case s.stage == stageDivide:
		w.race = p.centerRace()
	case s.stage == stageClose:
		w.closing = p.newClosing(s.model)
	case s.stage == stageProve:
		w.proof = newProofSums(s.model, ops)
		if s.margins != nil && !s.calibrating.leavesOut() {
			w.tally.margins, w.places = newMarginTally(len(s.bias)), s.placesOf()
		}
	}
	w.begin()
	return w
}

// chunkRows is how many records are looked at together.
func (w *walk) chunkRows() int {
	others := w.space.Width
	for i := range w.moves {
		others = max(others, len(w.moves[i].records))
	}
	return max(1, min(4096, rows.TileFloats/max(1, others)))
}

// group is the records of a chunk that are of one class.
type group struct {
	records []int // in the chunk
	rows    []float32
	points  kernels.Points
}

// chunk takes in the records [from, to) of some vectors.
func (w *walk) chunk(v features.Vectors, from, to int, part jobs.Part) error {
	c, n := rows.ChunkOf(v, from, to, &w.dense), w.perRecord()
	ordinal := func(i int) int64 { return part.First + int64(v.Records[from+i]) }
	c.X = w.asTrained(c.X, ordinal)
	base := len(w.after.alpha)
	if err := w.carryOver(base, len(c.IDs)*n); err != nil {
		return err
	}
	if err := w.carryIdle(base/n, len(c.IDs)); err != nil {
		return err
	}
	if err := w.divide(base, c); err != nil {
		return err
	}
	if err := w.group(c, base); err != nil {
		return err
	}
	for i := range w.groups {
		g := &w.groups[i]
		if len(g.records) == 0 {
			continue
		}
		g.points.Set(w.coarse, w.evaluator.Ops, matrixOf(g.rows, len(g.records), w.space.Width))
		if err := w.decide(g, i, base, c); err != nil {
			return err
		}
	}
	for i := range c.IDs {
		r := record{Chunk: c, i: i, ordinal: ordinal(i), at: base + i*n, nth: base/n + i}
		if w.oneClass {
			var err error
			if r.novel, err = w.detection.Novel(v.IDs[from+i], part.Labels, v.Records[from+i]); err != nil {
				return err
			}
		}
		if w.regresses {
			var err error
			if r.number, err = targetOf(part.Labels, v, from+i); err != nil {
				return err
			}
		}
		if err := w.measure(r); err != nil {
			return err
		}
	}
	return nil
}

// group sorts the records of a chunk by class, and by cluster where clusters have their own machines. Records that are
// left out, or whose decisions stay, are in no group. base is the place of the chunk's first coefficient. Records of
// numbers and of one class are all of class 1.
func (w *walk) group(c rows.Chunk, base int) error {
	n := w.perRecord()
	for y := range w.groups {
		w.groups[y].records, w.groups[y].rows = w.groups[y].records[:0], w.groups[y].rows[:0]
	}
	for i, y := range c.Class {
		if w.regresses || w.oneClass {
			y = 1
		}
		if y < 0 {
			return features.Unseen(c.IDs[i])
		}
		number := w.tally.classes.group(int(y), w.clusterAt(base+i*n))
		if w.leftOut(base/n+i) || w.stays(number) {
			continue
		}
		g := &w.groups[number]
		g.records, g.rows = append(g.records, i), append(g.rows, c.X.Row(i)...)
	}
	return nil
}

// carryOver begins with what was carried.
func (w *walk) carryOver(base, n int) error {
	if len(w.before.alpha) == 0 {
		w.after.alpha = append(w.after.alpha, make([]float64, n)...)
		w.after.f = append(w.after.f, make([]float64, n)...)
		if w.calibrating != nil {
			w.after.held = append(w.after.held, make([]float64, n)...)
		}
		return nil
	}
	if base+n > len(w.before.alpha) {
		return jobs.Malformed("%d coefficients are carried, fewer than the block has", len(w.before.alpha))
	}
	w.after.alpha = append(w.after.alpha, w.before.alpha[base:base+n]...)
	w.after.f = append(w.after.f, w.before.f[base:base+n]...)
	if w.calibrating != nil {
		if len(w.before.held) != len(w.before.alpha) {
			return jobs.Malformed("%d decisions are kept for %d coefficients", len(w.before.held), len(w.before.alpha))
		}
		w.after.held = append(w.after.held, w.before.held[base:base+n]...)
	}
	return nil
}

// decide brings the decisions on the records of a group up to date.
func (w *walk) decide(g *group, number, base int, c rows.Chunk) error {
	switch class := number / w.tally.classes.parts; {
	case w.stage == stageProve:
		return w.prove(g, number, base, c)
	case w.stage == stageJoin:
		return w.join(g, class, base, c)
	}
	return w.move(g, &w.moves[number], base, c)
}
