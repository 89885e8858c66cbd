package noveltydetector

import (
	"context"
	"math"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// base holds training records that weigh something, in their order.
type base struct {
	rows.Rows
	weights []float32 // nil where every row weighs 1
}

// Fields lists the rows, in time linear in their bytes.
func (b *base) Fields(f *jobs.Fields) {
	f.Int("base.width", &b.Width, 0, math.MaxInt32)
	f.Int("base.rows", &b.N, 0, math.MaxInt)
	jobs.Optional(f, "base.weights", &b.weights, b.N)
	b.Rows.Fields(f)
	f.Check(func() error {
		for i, w := range b.weights {
			if !(w > 0 && w-w == 0) {
				return jobs.Malformed("row %d of the base weighs %v", i, w)
			}
		}
		return b.Check(b.Form, b.Width)
	})
}

// bytes is the size of the rows in a model.
func (b *base) bytes() int64 {
	return b.Bytes() + 4*int64(len(b.weights)) + 8*int64(len(b.Sparse.Indptr))
}

// weight is what a row counts.
func (b *base) weight(row int) float64 {
	if b.weights == nil {
		return 1
	}
	return float64(b.weights[row])
}

// add appends row i of v, unless it weighs nothing.
func (b *base) add(v features.Vectors, i int) {
	if v.Weights != nil {
		if v.Weights[i] == 0 {
			return
		}
		b.weights = append(b.weights, v.Weights[i])
	}
	b.Add(v, i, i+1)
}

// total is the sum of the weights, in the order of the rows.
func (b *base) total() (sum float64) {
	for i := range b.N {
		sum += b.weight(i)
	}
	return sum
}

// deviation is the root of the mean over the columns of their weighted variances: two passes.
func (b *base) deviation(total float64) float64 {
	mean, sum := make([]float64, b.Width), 0.0
	var buf []float32
	for i := range b.N {
		for j, x := range b.Tile(i, i+1, &buf).Row(0) {
			mean[j] += float64(b.weight(i) * float64(x))
		}
	}
	for j := range mean {
		mean[j] /= total
	}
	for i := range b.N {
		sum += float64(b.weight(i) * rows.SquaredDistance(b.Tile(i, i+1, &buf).Row(0), mean))
	}
	return math.Sqrt(sum / total / float64(max(1, b.Width)))
}

// baseName names the phase that gathers the training records.
const baseName = "base"

// basePhase gathers the training records into a model.
type basePhase struct {
	params    Params
	detection evaluation.Detection
	bound     rows.Bound
}

func newBasePhase(spec protocol.JobSpec, p Params, d evaluation.Detection) basePhase {
	return basePhase{p, d, rows.Bound{Most: spec.Spec.Run.MaxStateBytes, What: "the training records take",
		Hint: "Raise run.max_state_bytes, train on a part of the records, or take SupportVectorMachine with mode " +
			"one_class."}}
}

func (p basePhase) phase() jobs.Phase {
	return jobs.MapReduce[*features.Space, *base]{
		Name: baseName, State: readSpace, Partial: func() *base { return new(base) },
		Map: p.gather, Merge: p.merge, Step: p.finish,
		// the rows of the leaf, with what they grew out of, and their arrays
		Gathers: func(leaf jobs.Leaf, records func(jobs.Source, int) int64) int64 {
			return 3 * records(jobs.Input, leaf.Index)
		},
	}.Phase()
}

func readSpace(a jobs.Arrays) (space *features.Space, err error) {
	_, err = jobs.Read(a, jobs.FieldsFunc(func(f *jobs.Fields) { spaceField(f, &space) }))
	return space, err
}

func spaceField(f *jobs.Fields, space **features.Space) {
	rows.ReadSpace(f, space, "distances spread rows out and take")
}

// gather reads one leaf: linear in its values.
func (p basePhase) gather(
	ctx context.Context, space *features.Space, leaf jobs.Leaf, _ *kernelops.Set,
) (*base, error) {
	b, reader, keep := &base{Rows: rows.New(rows.FormOf(space), space.Width)}, space.NewReader(), p.detection.Train()()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		v, err := reader.Read(block, keep)
		if err != nil {
			return nil, err
		}
		for i, record := range v.Records {
			novel, err := p.detection.Novel(v.IDs[i], block.Labels, record)
			if err != nil {
				return nil, err
			}
			if !novel {
				b.add(v, i)
			}
		}
		if err := p.bound.Check(b.bytes()); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// merge puts the rows of the right below those of the left.
func (p basePhase) merge(left, right *base) (*base, error) {
	if err := p.bound.Check(left.bytes() + right.bytes()); err != nil {
		return nil, err
	}
	if left.Width != right.Width || left.Form != right.Form {
		return nil, jobs.Malformed("rows of width %d and %d, of form %d and %d", left.Width, right.Width, left.Form,
			right.Form)
	}
	left.weights = slices.Concat(left.weights, right.weights)
	left.Append(&right.Rows)
	return left, nil
}

// finish makes the model. Records that are too few or equal are a fault of CodeInputEmpty.
func (p basePhase) finish(
	_ context.Context, space *features.Space, b *base, round jobs.Round,
) (jobs.Next, error) {
	m := &model{space: space, base: b, detector: p.params.Detector, k: p.params.K, bandwidth: p.params.Bandwidth}
	switch total := b.total(); {
	case !(total > 0):
		return jobs.Next{}, protocol.EmptyFault("every training record weighs 0").WithHint("Check spec.input.weight.")
	case m.detector == byNeighbors && m.k > b.N:
		return jobs.Next{}, protocol.EmptyFault("%d training records have no neighbor of number %d", b.N, m.k).
			WithHint("Lower params.k, or check spec.input.")
	case space.Min != nil && slices.Equal(space.Min, space.Max):
		return jobs.Next{}, protocol.EmptyFault("the training records are equal, all %d of them: nothing can be learned",
			b.N).
			WithHint("Check the columns of spec.input.")
	case m.detector == byDensity && m.bandwidth == 0:
		if m.bandwidth = p.params.rule(b, total); !validBandwidth(m.bandwidth) {
			return jobs.Next{}, protocol.EmptyFault("the training records give no bandwidth by the rule %s: %v",
				p.params.BandwidthRule, m.bandwidth).WithHint("Give params.bandwidth.")
		}
	}
	metrics := []jobs.Metric{jobs.CountMetric("base.records", int64(b.N))}
	return p.detection.End(jobs.Next{State: jobs.ArraysOf(m), Metrics: metrics}, round.Plan), nil
}

// rule is the bandwidth by a rule of thumb.
func (p Params) rule(b *base, total float64) float64 {
	d, factor := float64(b.Width), total
	if p.BandwidthRule == ruleSilverman {
		factor = float64(total * ((d + 2) / 4))
	}
	return float64(b.deviation(total) * fmath.Exp(-fmath.Log(factor)/(d+4)))
}

// validBandwidth bounds a bandwidth, far from overflow of its squares and powers.
func validBandwidth(h float64) bool { return h >= 1e-30 && h <= 1e30 }
