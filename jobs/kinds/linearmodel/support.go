package linearmodel

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
)

// supportFolder is where support vectors go, beside the model.
const supportFolder = "support"

// mostSupport bounds the rows of a part, which a leaf has in memory; supportBytes estimates what they take.
const (
	mostSupport  = 1 << 18
	supportBytes = 400 * mostSupport
	maxOpen      = openNumbers
)

// written is what the leaves of the last round wrote and counted: the round after the training, in which a leaf
// measures the coefficients that it carries at the model's weights.
type written struct {
	list  parts.List
	count []int64            // support vectors of each machine
	plane *sampling.Sample   // training records of two columns; see planePoint
	open  []*sampling.Sample // support vectors of machines that may not separate; see training.open
}

// Fields lists what was written.
func (w *written) Fields(f *jobs.Fields) {
	w.list.Fields(f)
	jobs.List(f, "support", &w.count)
	sampling.Fields(f, "plane", &w.plane)
	n := len(w.open)
	if f.Int("open", &n, 0, maxOpen); f.Reading() {
		w.open = make([]*sampling.Sample, n)
	}
	for i := range w.open {
		sampling.Fields(f, fmt.Sprintf("open.%d", i), &w.open[i])
	}
}

// plus joins what two neighbors wrote. Either both belong to the last round, or none.
func (w *written) plus(right *written) (*written, error) {
	switch {
	case w == nil && right == nil:
		return nil, nil
	case w == nil || right == nil:
		return nil, jobs.Malformed("only one of two tallies is of the last round")
	}
	both := &written{list: append(w.list[:len(w.list):len(w.list)], right.list...), plane: w.plane}
	var err error
	if both.count, err = sums.Of(w.count, right.count); err != nil {
		return nil, err
	}
	if len(w.open) != len(right.open) {
		return nil, jobs.Malformed("samples of %d and of %d machines", len(w.open), len(right.open))
	}
	for i, sample := range w.open {
		both.open = append(both.open, sample)
		if err := sample.Merge(right.open[i]); err != nil {
			return nil, err
		}
	}
	return both, both.plane.Merge(right.plane)
}

// support gathers the support vectors of a leaf by column.
type support struct {
	*training
	most  int // rows
	ids   *parts.Identities
	texts [2][]string    // label, machine
	rows  [3][]float64   // alpha, margin, slack
	draws *sampling.Race // of the sample
	count []int64        // also of those beyond most
	plane *sampling.Sample

	openly   []int              // machines that are open
	open     []*sampling.Sample // of each
	opens    *sampling.Race
	gathered []float32 // a row of a sample
}

func newSupport(s *training, way dataset.Way, seed uint64, most int) *support {
	return &support{training: s, most: most, ids: parts.NewIdentities(way), texts: [2][]string{{}, {}},
		rows: [3][]float64{{}, {}, {}}, draws: sampling.NewRace(seed, "linearmodel/plane"),
		count: make([]int64, s.machines()), plane: sampling.New(planePoints), openly: s.open(), open: s.newOpen(),
		opens: sampling.NewRace(seed, "linearmodel/open")}
}

// add takes in a record, if its coefficient is above 0, and may choose it for the picture.
func (u *support) add(r *record, id dataset.Identity, alpha carried) error {
	var supports [planeMachines]bool
	for slot := range u.slots() {
		a, err := alpha.at(r.number*u.slots() + slot)
		if err != nil {
			return err
		}
		if !(a > 0) {
			continue
		}
		k, side := u.at(r.class, slot)
		u.offer(k, r, side, id)
		if u.count[k]++; k < planeMachines {
			supports[k] = true
		}
		if len(u.rows[0]) == u.most {
			continue
		}
		margin := float64(side * r.Dot(u.row(u.weights, k)))
		u.ids.Add(id)
		u.texts[0] = append(u.texts[0], string(u.space.Labels.At(r.class)))
		u.texts[1] = append(u.texts[1], u.machineLabel(k))
		for c, v := range []float64{a, margin, max(0, 1-margin)} {
			u.rows[c] = append(u.rows[c], v)
		}
	}
	if u.planar() && r.cost > 0 {
		u.plane.Offer(u.draws.Chance(id), id, planePoint(r, supports))
	}
	return nil
}

// machineLabel tells a machine apart from the others of a model: by the label that it looks for or, of two classes of
// more, by both.
func (m *model) machineLabel(k int) string {
	if m.paired {
		return m.machineName(k)
	}
	return string(m.space.Labels.At(m.sought(k)))
}

// table is the columns in the order of the output.
func (u *support) table() parts.Table {
	return append(u.ids.Columns(), parts.Column{Name: "label", Texts: u.texts[0]},
		parts.Column{Name: "machine", Texts: u.texts[1]}, parts.Column{Name: "alpha", Floats: u.rows[0]},
		parts.Column{Name: "margin", Floats: u.rows[1]}, parts.Column{Name: "slack", Floats: u.rows[2]})
}

// support goes over the leaf's own block once more, and writes its support vectors if they are asked for.
func (j job) support(
	ctx context.Context, s *training, leaf jobs.Leaf, alpha carried, ops *kernelops.Set,
) (*written, error) {
	number, u := 0, newSupport(s, j.way, j.Seed, mostSupport)
	err := j.read(ctx, s, leaf, func(v features.Vectors, part jobs.Part) error {
		for i := range v.Rows {
			r, err := s.recordOf(v, part.Labels, i, number, ops)
			if err == nil {
				err = u.add(&r, v.IDs[i], alpha)
			}
			if err != nil {
				return err
			}
			number++
		}
		return nil
	})
	if err == nil {
		err = alpha.checkLen(number * s.slots())
	}
	w := &written{count: u.count, plane: u.plane, open: u.open}
	if err == nil && j.Params.SupportVectors {
		w.list, err = parts.Write(ctx, leaf.Emit, supportFolder, leaf.Index, parts.CSV, u.table())
	}
	return w, err
}

// gathersSupport is what a leaf has in memory beside what training takes.
func (j job) gathersSupport() int64 {
	bytes := int64(0)
	if j.Params.SupportVectors {
		bytes += supportBytes
	}
	if j.Params.Margin {
		bytes += 4 * openNumbers
	}
	return bytes
}

// closes reports whether a round follows the training, which writes and counts support vectors, or
// gathers those that may prove that a machine cannot separate.
func (j job) closes(s *training) bool {
	return j.Params.SupportVectors || s.planar() || len(s.newOpen()) > 0
}

// close ends the training with what the last round wrote.
func (j job) close(ctx context.Context, s *training, w *written, round jobs.Round) (jobs.Next, error) {
	if w == nil || len(w.count) != s.machines() {
		return jobs.Next{}, jobs.Malformed("the last round counts no support vectors of %d machines", s.machines())
	}
	if err := s.decide(w.open); err != nil {
		return jobs.Next{}, err
	}
	var facts jobs.Facts
	if s.asked == 1 {
		s.marginFacts(&facts)
	}
	total := int64(0)
	for k, n := range w.count {
		total += n
		if len(w.count) > 1 {
			facts.Add(fmt.Sprintf("linear.support.%03d", k), n)
		}
	}
	facts.Add("linear.support", total)
	if s.planar() {
		facts.Add(planeMetric, planeOf(w.plane))
	}
	if j.Params.SupportVectors {
		x := parts.Index{Format: parts.CSV, Columns: newSupport(s, j.way, 0, 0).table().Names(), Parts: w.list}
		if _, err := parts.WriteIndex(ctx, round.Emit, supportFolder, x); err != nil {
			return jobs.Next{}, err
		}
		if n := w.list.Rows(); n < total {
			facts.Add(jobs.WarningsMetric, []string{cutSentence(n, total)})
		}
	}
	metrics, err := facts.Metrics()
	if err != nil {
		return jobs.Next{}, err
	}
	return j.Judge.End(jobs.Next{State: jobs.ArraysOf(s.model), Metrics: metrics}, round.Plan), nil
}

func cutSentence(written, total int64) string {
	return fmt.Sprintf("support/ has %d of %d support vectors: a part has at most %d rows. Raise params.blocks",
		written, total, mostSupport)
}
