package knn

import (
	"encoding/json"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// modelVersion is the version of the model's layout.
const modelVersion = 1

// Arrays of a model beside those of its space ("features.*", "labels", or "texts.records"), of its
// projection, and of the base that it may hold ("base.*").
const modelParams = "params" // U8: the parameters as canonical JSON, k and all

// model is what a job leaves: how to decide, and the base if it was stored.
type model struct {
	params Params
	*space
	projected
	base *points // nil where it was not stored
}

func newModel(p *plan, state jobs.Arrays) (*model, error) {
	s, err := readSpace(p.params, state)
	if err != nil {
		return nil, err
	}
	m := &model{params: p.params, space: s}
	if p.params.Projection != nil {
		m.projected, err = getProjected(state)
	}
	return m, err
}

func (m *model) arrays() jobs.Arrays {
	a := jobs.Arrays{}
	a.PutKind(KindName, modelVersion)
	data, err := json.Marshal(m.params)
	if err != nil {
		panic("knn: " + err.Error()) // not reached: parameters were read from JSON
	}
	jobs.Put(a, modelParams, data)
	jobs.Add(a, m.space)
	if m.dims > 0 {
		m.projected.put(a)
	}
	if m.base != nil {
		m.base.put(a)
	}
	return a
}

// readModel reads a model, in time and memory linear in its bytes. What training would not have
// written is a *protocol.Fault of CodeCorrupt.
func readModel(a jobs.Arrays) (*model, error) {
	if err := a.CheckKind(KindName, modelVersion); err != nil {
		return nil, err
	}
	text, err := a.Text(modelParams)
	if err != nil {
		return nil, err
	}
	if len(text) > protocol.MaxSpecBytes {
		return nil, jobs.Malformed("a model's parameters take %d bytes", len(text))
	}
	m := &model{}
	if m.params, err = params.Parse[Params]([]byte(text)); err != nil {
		return nil, jobs.Malformed("a model's parameters: %v", err)
	}
	if m.space, err = readSpace(m.params, a); err != nil {
		return nil, err
	}
	if m.params.Projection != nil {
		if m.projected, err = getProjected(a); err != nil {
			return nil, err
		}
	}
	if m.params.StoreBase {
		m.base, err = m.readBase(a)
	}
	return m, err
}

// readBase reads the stored base and holds it against the space.
func (m *model) readBase(a jobs.Arrays) (*points, error) {
	p, err := getPoints(a, m.storedForm())
	if err != nil {
		return nil, err
	}
	if int64(p.rows) != m.records {
		return nil, jobs.Malformed("a base of %d records, %d of them stored", m.records, p.rows)
	}
	for _, t := range p.target {
		if t-t != 0 || m.params.Mode == modeClassify && !(t >= 0 && t < float64(m.labels.Len()) && t == float64(int32(t))) { //lint:checked below the number of labels
			return nil, jobs.Malformed("a record of the base has the target %v", t)
		}
	}
	return p, nil
}

// storedForm says which arrays a stored base has.
func (m *model) storedForm() points {
	p := *m.newPoints()
	if m.dims > 0 {
		p = points{width: m.dims}
	}
	if m.params.Mode != modeSearch {
		p.target = []float64{}
	}
	return p
}

// Describe tells what the model decides by, and what it holds.
func Describe(a jobs.Arrays, opt jobs.DescribeOptions) (string, error) {
	m, err := readModel(a)
	if err != nil {
		return "", err
	}
	rule := ""
	if m.params.K != nil {
		rule = fmt.Sprintf("the %d nearest", *m.params.K)
	} else {
		rule = fmt.Sprintf("all within %v", *m.params.Radius)
	}
	text := fmt.Sprintf("%s: %s by %s of %s\n", KindName, m.params.Mode, m.params.Metric, rule)
	text += fmt.Sprintf("base: %d records", m.records)
	if m.vectors != nil {
		text += fmt.Sprintf(" of %d features (scale %s)", m.vectors.Width, m.vectors.Scale())
	}
	if m.base != nil {
		text += ", stored: the model predicts\n"
	} else {
		text += ", not stored: set store_base for a model that predicts\n"
	}
	if m.dims > 0 {
		text += fmt.Sprintf("projected into %d dimensions, seed %d\n", m.dims, m.seed)
	}
	if m.params.Mode == modeClassify {
		text += fmt.Sprintf("votes: %s weights, ties by %s, rejected below a share of %v\n", m.params.Weights, m.params.Ties, m.params.RejectBelow)
		text += fmt.Sprintf("labels: %d\n", m.labels.Len())
		for i, label := range m.labels.List() {
			if len(opt.Classes) == 0 && i == maxDescribed {
				text += fmt.Sprintf("  and %d more\n", m.labels.Len()-i)
				break
			}
			text += fmt.Sprintf("  %q\n", label)
		}
	}
	return text, nil
}

// maxDescribed bounds the labels that are printed.
const maxDescribed = 20
