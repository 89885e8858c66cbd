package linearmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/protocol"
)

// origin is where a model comes from that was imported: no records made its weights, so it has no loss, no costs, no
// rounds and no certificate.
type origin struct {
	SHA256   string // of the list of words, in hex
	negative int    // the class of a text that is just at the threshold
}

// originFields lists the origin of an imported model; no other has one.
func (m *model) originFields(f *jobs.Fields) {
	if !m.space.Imported {
		return
	}
	o := jobs.Make(f, &m.origin)
	f.Text("imported.sha256", &o.SHA256)
	jobs.Enum(f, "imported.negative", &o.negative, 0, 1)
	digest, err := hex.DecodeString(o.SHA256)
	f.Require(err == nil && len(digest) == sha256.Size, "an imported model whose digest is %.70q", o.SHA256)
	f.Require(m.space.Labels.Len() == 2, "an imported model of %d labels", m.space.Labels.Len())
}

// imported reports whether the weights were given, and not learned.
func (m *model) imported() bool { return m.origin != nil }

// best is the class of the highest score, of equals the first; of an imported model the negative one.
func (m *model) best(scores []float64) int {
	if m.imported() && scores[0] == scores[1] {
		return m.origin.negative
	}
	return rank.First(scores)
}

// checkLearned refuses an imported model where a loss is asked for; nil is that of a model that was learned.
func (o *origin) checkLearned() error {
	if o == nil {
		return nil
	}
	return protocol.SpecFault("the model was imported, not learned: it has no loss and no C to learn on by").
		WithHint("Begin a job of kind LinearModel from it, by spec.model.")
}

// trained is the space of a model that goes on from this one, in which records are counted.
func (m *model) trained(records int64, ofClasses []int64) *model {
	of, space := *m, *m.space
	space.Imported, space.Records, space.ClassRecords = false, records, slices.Clone(ofClasses)
	of.space, of.origin = &space, nil
	return &of
}

// describe tells what the imported model was made of.
func (o *origin) describe(p *describe.Page, m *model) {
	p.Line("origin", "imported, not learned: nothing is proved of it")
	p.Line("words", "%d", m.space.Width)
	p.Line("sha256", "%s", o.SHA256)
	threshold := 0 - m.weights[m.space.Width]
	if o.negative == 1 {
		threshold = m.weights[m.space.Width]
	}
	p.Line("decision", "%q if the sum of its words' scores is above %v, else %q",
		m.space.Labels.At(1-o.negative), threshold, m.space.Labels.At(o.negative))
}
