package kmeans

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// assigner finds the nearest center of rows (equation 1.30), exactly: see kernelops.Set.Nearest. One goroutine.
type assigner struct {
	ops    *kernelops.Set
	ws     kernelops.Workspace
	packed *kernelops.Centers // nil without centers
	tree   *tree              // decides in place of distances alone; nil unless the algorithm is bisecting

	index  []int32   // the center of each row of the last chunk
	sqDist []float64 // of each row of the last chunk to its center
	group  []int32
}

// newAssigner takes centers as wide as the origin, a point in the middle of the data, which changes the speed only.
func newAssigner(ops *kernelops.Set, centers []float64, origin []float32) *assigner {
	a := &assigner{ops: ops}
	if len(centers) > 0 {
		a.packed = ops.PackCenters(centers, origin)
	}
	return a
}

// assign finds the nearest center of each row of a chunk.
func (a *assigner) assign(c chunk) error {
	if a.packed == nil {
		return jobs.Malformed("records are assigned to no centers")
	}
	if a.tree != nil {
		return a.descend(c)
	}
	a.index, a.sqDist = kernelops.Resize(a.index, c.X.Rows), kernelops.Resize(a.sqDist, c.X.Rows)
	a.ops.Nearest(a.index, a.sqDist, c.X, a.packed, &a.ws)
	return a.checkFound(c)
}

// checkFound refuses a chunk with a record that no center is at a finite distance of.
func (a *assigner) checkFound(c chunk) error {
	all := int32(0)
	for _, nearest := range a.index {
		all |= nearest
	}
	if all >= 0 { // as of rows that were read and centers that are means of them
		return nil
	}
	return beyond(c.IDs[slices.IndexFunc(a.index, func(nearest int32) bool { return nearest < 0 })])
}

func beyond(id dataset.Identity) error {
	return id.Fault("no center is at a finite distance of the record").
		WithHint("Scale the columns: params.scale standard or minmax.")
}

// chunk is some rows as dense vectors.
type chunk = rows.Chunk

// chunkFloats is how many numbers a chunk holds, so that it stays in the cache with what is made of it.
const chunkFloats = 1 << 16

// points reads blocks in chunks. One goroutine.
type points struct {
	reader *features.Reader
	dense  []float32 // where sparse rows are filled up
	rows   int
}

func newPoints(space *features.Space) *points {
	most := min(1024, max(16, chunkFloats/space.Width))
	// a power of two, so that no chunk crosses a part of ByteRows
	return &points{reader: space.NewReader(), rows: 1 << (bits.Len(uint(most)) - 1)}
}

// leaf visits the training rows of a leaf in order; again says that an earlier round has done so.
func (j job) leaf(ctx context.Context, space *features.Space, leaf jobs.Leaf, again bool,
	visit func(chunk) error) error {
	p, train := newPoints(space), jobs.Choice(nil)
	if !j.whole {
		train = j.train()
	}
	if again {
		p.reader.Trust()
	}
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return err
		}
		if err := p.block(ctx, block, train, visit); err != nil {
			return err
		}
	}
	return nil
}

// block visits the rows of a block that keep chooses.
func (p *points) block(ctx context.Context, block *dataset.Block, keep jobs.Choice,
	visit func(chunk) error) error {
	v, err := p.reader.Read(block, keep)
	if err != nil {
		return err
	}
	return rows.Chunks(ctx, v, p.rows, &p.dense, visit)
}

// zero reports whether a row has no direction.
func zero[T float32 | float64](row []T) bool {
	for _, v := range row {
		if v != 0 {
			return false
		}
	}
	return true
}

// distance is what a squared Euclidean distance is called outside: its root, or 1 - cosine.
func distance(sqDist float64, cosine bool) float64 {
	if cosine {
		return sqDist / 2
	}
	return math.Sqrt(sqDist)
}

// toAll sets columns[j] to the distances of the rows of x to center j. O(rows * k * width).
func (a *assigner) toAll(columns [][]float64, x kernelops.Matrix, centers []float64, cosine bool) {
	a.group = kernelops.Resize(a.group, x.Rows)
	for j, column := range columns {
		for i := range a.group {
			a.group[i] = int32(j)
		}
		a.ops.GroupDistances(column, x, centers, a.group)
		for i, d := range column {
			column[i] = distance(d, cosine)
		}
	}
}

// predictor finds the nearest center of records.
type predictor struct {
	model    *model
	near     *assigner
	soft     *responder  // nil unless the model is soft
	all      [][]float64 // distances of a chunk to each center, by center; nil where they are not the scores
	points   *points
	names    []string
	outcomes []jobs.Outcome
}

// NewPredictor loads a model: the label of a record is the number of its cluster, the value its distance to the
// center (for cosine 1 - cosine). A soft model gives the responsibilities as scores. Errors are jobs.Malformed.
func NewPredictor(arrays jobs.Arrays, ops *kernelops.Set) (jobs.Predictor, error) {
	m, err := readModel(arrays)
	if err != nil {
		return nil, err
	}
	p := &predictor{model: m, near: m.assigner(ops), points: newPoints(m.space)}
	for j := range m.clusters() {
		p.names = append(p.names, strconv.Itoa(j))
	}
	if m.stiffness > 0 {
		p.soft = newResponder(p.near, m.clusters(), m.stiffness)
	}
	return p, nil
}

// Answers are clusters and distances, and responsibilities of a soft model.
func (p *predictor) Answers() jobs.Answers {
	answers := jobs.Answers{Labels: p.names, Value: "distance", Clusters: true}
	if p.soft != nil || p.all != nil {
		answers.Scores = p.names
	}
	return answers
}

// Predict assigns the records of a block.
func (p *predictor) Predict(ctx context.Context, block *dataset.Block) ([]jobs.Outcome, error) {
	p.outcomes = p.outcomes[:0]
	err := p.points.block(ctx, block, nil, func(c chunk) error {
		if err := assign(p.near, p.soft, c); err != nil {
			return err
		}
		p.measure(c)
		for i, j := range p.near.index {
			p.outcomes = append(p.outcomes, jobs.Outcome{Label: p.names[j],
				Value: distance(p.near.sqDist[i], p.model.cosine()), Scores: p.scores(i)})
		}
		return nil
	})
	return p.outcomes, err
}

// assign finds the nearest centers, and responsibilities unless soft is nil.
func assign(near *assigner, soft *responder, c chunk) error {
	if soft != nil {
		return soft.respond(c)
	}
	return near.assign(c)
}

// ByDistance returns the predictor with the distances to all centers for scores, as folder distances of a training has
// them.
func (p *predictor) ByDistance() (jobs.Predictor, error) {
	if len(p.names) > maxColumns {
		return nil, protocol.SpecFault("distances have a column for each center: the model may have %d at most, not %d",
			maxColumns, len(p.names)).WithHint("Leave params.distances out: the nearest center is written in any case.")
	}
	other := *p
	other.soft, other.all, other.outcomes = nil, make([][]float64, len(p.names)), nil
	return &other, nil
}

// measure finds the distances of a chunk to all centers, if they are the scores.
func (p *predictor) measure(c chunk) {
	if p.all == nil {
		return
	}
	for j := range p.all {
		p.all[j] = kernelops.Resize(p.all[j], c.X.Rows)
	}
	p.near.toAll(p.all, c.X, p.model.centers, p.model.cosine())
}

// scores are the distances of row i of the last chunk or, of a soft model, its responsibilities; else nil.
func (p *predictor) scores(i int) []float64 {
	if p.soft == nil && p.all == nil {
		return nil
	}
	scores := make([]float64, len(p.names))
	for j, column := range p.all {
		scores[j] = column[i]
	}
	if p.all != nil {
		return scores
	}
	centers, shares := p.soft.of(i)
	for e, j := range centers {
		scores[j] = shares[e]
	}
	return scores
}
