package margin

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/learn/sampling"
	"github.com/gram-compute/gram/jobs/learn/sums"
)

// folder is where support vectors go, beside the model.
const folder = "support"

// most bounds the rows of a part, which a leaf has in memory; SupportBytes estimates what they take.
const (
	most         = 1 << 18
	SupportBytes = 400 * most
)

// Written is what the leaves of the last round wrote and counted: the one after the training.
type Written struct {
	list  parts.List
	count []int64          // support vectors of each machine
	plane *sampling.Sample // training records of two columns; see planeRow
}

// Fields lists what was written.
func (w *Written) Fields(f *jobs.Fields) {
	w.list.Fields(f)
	jobs.List(f, "support", &w.count)
	sampling.Fields(f, "plane", &w.plane)
}

// Plus joins what two neighbors wrote. Either both belong to the last round, or none.
func (w *Written) Plus(right *Written) (*Written, error) {
	switch {
	case w == nil && right == nil:
		return nil, nil
	case w == nil || right == nil:
		return nil, jobs.Malformed("only one of two tallies is of the last round")
	}
	both := &Written{list: append(w.list[:len(w.list):len(w.list)], right.list...), plane: w.plane}
	var err error
	if both.count, err = sums.Of(w.count, right.count); err != nil {
		return nil, err
	}
	return both, both.plane.Merge(right.plane)
}

// Support gathers the support vectors of a leaf by column. One goroutine.
type Support struct {
	most  int // rows
	ids   *parts.Identities
	texts [2][]string    // label, machine
	rows  [3][]float64   // alpha, margin, slack
	draws *sampling.Race // of the sample
	count []int64        // also of those beyond most
	plane *sampling.Sample
}

// NewSupport begins, for records named in one way. The purpose names the draws of the picture's records.
func NewSupport(way dataset.Way, seed uint64, purpose string, machines int) *Support {
	return newSupport(way, seed, purpose, machines, most)
}

func newSupport(way dataset.Way, seed uint64, purpose string, machines, most int) *Support {
	return &Support{most: most, ids: parts.NewIdentities(way), texts: [2][]string{{}, {}},
		rows: [3][]float64{{}, {}, {}}, draws: sampling.NewRace(seed, purpose), count: make([]int64, machines),
		plane: sampling.New(planePoints)}
}

// Add takes in a support vector of a machine: its label, what the machine looks for, its coefficient, and its margin,
// the decision times its side.
func (u *Support) Add(machine int, id dataset.Identity, label, sought string, alpha, margin float64) {
	if u.count[machine]++; len(u.rows[0]) == u.most {
		return
	}
	u.ids.Add(id)
	u.texts[0], u.texts[1] = append(u.texts[0], label), append(u.texts[1], sought)
	for c, v := range []float64{alpha, margin, max(0, 1-margin)} {
		u.rows[c] = append(u.rows[c], v)
	}
}

// table is the columns in the order of the output.
func (u *Support) table() parts.Table {
	return append(u.ids.Columns(), parts.Column{Name: "label", Texts: u.texts[0]},
		parts.Column{Name: "machine", Texts: u.texts[1]}, parts.Column{Name: "alpha", Floats: u.rows[0]},
		parts.Column{Name: "margin", Floats: u.rows[1]}, parts.Column{Name: "slack", Floats: u.rows[2]})
}

// Write writes the part of a leaf, if the rows are asked for.
func (u *Support) Write(ctx context.Context, leaf jobs.Leaf, rows bool) (w *Written, err error) {
	w = &Written{count: u.count, plane: u.plane}
	if rows {
		w.list, err = parts.Write(ctx, leaf.Emit, folder, leaf.Index, parts.CSV, u.table())
	}
	return w, err
}

// End is how a job ends with what the last round wrote.
type End struct {
	Prefix   string // of metrics
	Machines int
	Way      dataset.Way
	Rows     bool // the parts were asked for
	Planar   bool // records are points of a plane
}

// Close writes the index, and adds to the facts: how many support vectors there are, as "<prefix>.support" and of each
// of several machines, and the records of the picture as "<prefix>.plane".
func (e End) Close(ctx context.Context, w *Written, emit jobs.Emit, facts *jobs.Facts) error {
	if w == nil || len(w.count) != e.Machines {
		return jobs.Malformed("the last round counts no support vectors of %d machines", e.Machines)
	}
	total := int64(0)
	for k, n := range w.count {
		total += n
		if len(w.count) > 1 {
			facts.Add(fmt.Sprintf("%s.support.%03d", e.Prefix, k), n)
		}
	}
	facts.Add(e.Prefix+".support", total)
	if e.Planar {
		facts.Add(planeMetric(e.Prefix), planeOf(w.plane))
	}
	if !e.Rows {
		return nil
	}
	x := parts.Index{Format: parts.CSV, Columns: newSupport(e.Way, 0, "", 0, 0).table().Names(), Parts: w.list}
	if _, err := parts.WriteIndex(ctx, emit, folder, x); err != nil {
		return err
	}
	if n := w.list.Rows(); n < total {
		facts.Add(jobs.WarningsMetric, []string{cutSentence(n, total)})
	}
	return nil
}

func cutSentence(written, total int64) string {
	return fmt.Sprintf("support/ has %d of %d support vectors: a part has at most %d rows. Raise params.blocks",
		written, total, most)
}
