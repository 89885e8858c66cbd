package knn

import (
	"encoding/json"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/rows"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// model is what a job leaves: how to decide, and the base if it was stored.
type model struct {
	*space
	projected
	hashed hashed
	base   *points // nil where it was not stored
}

// Fields lists the model.
func (m *model) Fields(f *jobs.Fields) {
	f.Kind(KindName, 1)
	p := &jobs.Make(f, &m.space).params
	paramsField(f, p)
	m.space.Fields(f)
	if p.Projection != nil {
		m.projected.Fields(f)
	}
	if p.Index == indexLSH {
		m.hashed.Fields(f)
		f.Require(m.hashed.tables > 0, "an index by hashing without tables")
		f.Check(func() error { return m.checkHashed(m.hashed) })
	}
	if p.StoreBase {
		jobs.Make(f, &m.base).Fields(f)
		f.Check(m.checkBase)
	}
}

// paramsField is the parameters as canonical JSON, k and all.
func paramsField[P any, T params.Pointer[P]](f *jobs.Fields, p *P) {
	var text string
	if !f.Reading() {
		data, err := json.Marshal(p)
		if err != nil {
			panic("knn: " + err.Error()) // not reached: parameters were read from JSON
		}
		text = string(data)
	}
	f.Text("params", &text)
	f.Require(len(text) <= protocol.MaxSpecBytes, "a model's parameters take %d bytes", len(text))
	f.Check(func() (err error) {
		if *p, err = params.Parse[P, T]([]byte(text)); err != nil {
			return jobs.Malformed("a model's parameters: %v", err)
		}
		return nil
	})
}

// checkBase compares the stored base with the space.
func (m *model) checkBase() error {
	if err := m.base.hold(m.storedForm()); err != nil {
		return err
	}
	if int64(m.base.N) != m.records {
		return jobs.Malformed("a base of %d records, %d of them stored", m.records, m.base.N)
	}
	for _, t := range m.base.target {
		//lint:checked below the number of labels
		class := t >= 0 && t < float64(m.labels.Len()) && t == float64(int32(t))
		if t-t != 0 || m.params.Mode == modeClassify && !class {
			return jobs.Malformed("a record of the base has the target %v", t)
		}
	}
	return nil
}

// storedForm is how the rows of a stored base are kept.
func (m *model) storedForm() form {
	of := m.form()
	if m.dims > 0 {
		of.rows, of.width = rows.Dense, m.dims
	}
	return of
}

// describe tells what the model decides by, and what it holds.
func (m *model) describe(p *describe.Page) error {
	rule := ""
	if m.params.K != nil {
		rule = fmt.Sprintf("the %d nearest", *m.params.K)
	} else {
		rule = fmt.Sprintf("all within %v", *m.params.Radius)
	}
	by := string(m.params.Metric)
	if m.params.P != nil {
		by = fmt.Sprintf("%s (p = %v)", by, *m.params.P)
	}
	p.Text("%s: %s by %s of %s\n", KindName, m.params.Mode, by, rule)
	p.Text("base: %s", protocol.Counted(m.records, "record"))
	if m.vectors != nil {
		p.Text(" of %d features (scale %s)", m.vectors.Width, m.vectors.Scale())
	}
	if m.base != nil {
		p.Text(", stored: the model predicts\n")
	} else {
		p.Text(", not stored: set store_base for a model that predicts\n")
	}
	if m.dims > 0 {
		p.Text("projected into %d dimensions, seed %d\n", m.dims, m.seed)
	}
	if m.params.Index == indexLSH {
		p.Text("index: %s, seed %d\n", m.curve(m.hashed), m.hashed.seed)
	}
	if m.params.Mode != modeClassify {
		return nil
	}
	p.Text("votes: %s weights, ties by %s, rejected below a share of %v\n", m.params.Weights, m.params.Ties,
		m.params.RejectBelow)
	p.Text("labels: %d\n", m.labels.Len())
	for i, label := range m.labels.List() {
		if len(p.Names) == 0 && i == maxDescribed {
			p.Text("  and %d more\n", m.labels.Len()-i)
			break
		}
		p.Text("  %q\n", label)
	}
	return nil
}

// maxDescribed bounds the labels that are printed.
const maxDescribed = 20
