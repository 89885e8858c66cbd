package lsh

import (
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Bounds of the parameters.
const (
	MaxTables = 1024
	MaxHashes = 64

	defaultRecall = 0.9
	defaultSample = 1000
	maxSample     = 1_000_000
)

// Params are the section of an index by hashing: Tables and Hashes, or Recall.
type Params struct {
	Recall *float64 `json:"recall,omitempty"`
	Tables *int     `json:"tables,omitempty"`
	Hashes *int     `json:"hashes,omitempty"`
	Width  *float64 `json:"width,omitempty"`
	Sample int      `json:"sample"`
}

// Default are the parameters of an index without the section.
func Default() *Params {
	p := &Params{Sample: defaultSample}
	p.complete()
	return p
}

// complete writes the default recall in where nothing says how many tables there are.
func (p *Params) complete() {
	if p.Recall == nil && p.Tables == nil && p.Hashes == nil {
		recall := defaultRecall
		p.Recall = &recall
	}
}

// UnmarshalJSON writes the defaults in.
func (p *Params) UnmarshalJSON(data []byte) error {
	type plain Params
	q := plain{Sample: defaultSample}
	if err := protocol.StrictDecode(data, &q); err != nil {
		return err
	}
	*p = Params(q)
	p.complete()
	return nil
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Optional("recall", &p.Recall).Missing("0.9, unless tables and hashes are given").Within("(0, 1)").
			Says("The share of neighbors to be found, for which tables, hashes and width are chosen by the distances " +
				"of a sample. What is found is measured.").
			From("Gionis, Indyk and Motwani, VLDB 1999, section 3."),
		params.Optional("tables", &p.Tables).Missing("by recall").Within("1 to 1024").
			Says("The number of hash tables, L of the paper: more find more, and compare more."),
		params.Optional("hashes", &p.Hashes).Missing("by recall").Within("1 to 64").
			Says("Hash functions of a table, k of the paper: more find less, and compare less."),
		params.Optional("width", &p.Width).Missing("by recall").Within("above 0").
			Says("Width of the buckets by l2 and l1, in units of the distance. Needed with tables and hashes.").
			From("Datar et al., SCG 2004, section 3.2."),
		params.Whole("sample", &p.Sample, defaultSample, 0, maxSample).
			Says("About how many queries are searched exactly too, to measure the recall; 0 measures nothing."),
	}
}

// Check rejects numbers beyond their bounds, and those that exclude each other.
func (p *Params) Check() error {
	switch {
	case p.Recall != nil && (p.Tables != nil || p.Hashes != nil):
		return protocol.SpecFault("recall excludes tables and hashes, which follow from it")
	case p.Recall != nil && !(*p.Recall > 0 && *p.Recall < 1):
		return protocol.SpecFault("recall is in (0, 1), not %v: index exact finds all neighbors", *p.Recall)
	case p.Recall == nil && (p.Tables == nil || p.Hashes == nil):
		return protocol.SpecFault("tables and hashes are given together, or recall in place of both")
	case p.Tables != nil && (*p.Tables < 1 || *p.Tables > MaxTables):
		return protocol.SpecFault("tables is from 1 to %d, not %d", MaxTables, *p.Tables)
	case p.Hashes != nil && (*p.Hashes < 1 || *p.Hashes > MaxHashes):
		return protocol.SpecFault("hashes is from 1 to %d, not %d", MaxHashes, *p.Hashes)
	case int64(p.Sample)*int64(p.mostTables()) > sampleKeys:
		return protocol.SpecFault("sample is %d: with %d tables the sampled queries have more than %d keys", p.Sample,
			p.mostTables(), sampleKeys).WithHint("Lower sample.")
	case p.Width != nil && !(*p.Width > 0 && *p.Width <= maxWidth && *p.Width >= minWidth):
		return protocol.SpecFault("width is from %v to %v, not %v", minWidth, maxWidth, *p.Width)
	}
	return nil
}

// mostTables is how many tables there are at most.
func (p *Params) mostTables() int {
	if p.Tables != nil {
		return *p.Tables
	}
	return MaxTables
}

// Bounds of a width: a quotient by it is finite, whatever the rows.
const (
	minWidth = 1e-30
	maxWidth = 1e+38
)

// CheckFamily rejects a width that a family has no use for, and the lack of one that it needs.
func (p *Params) CheckFamily(f Family, metric string) error {
	switch {
	case p.Width != nil && !f.Wide():
		return protocol.SpecFault("lsh.width is of metrics l2 and l1; with metric %s a hash value has no width", metric)
	case p.Width == nil && p.Recall == nil && f.Wide():
		return protocol.SpecFault("lsh.width is needed with lsh.tables and lsh.hashes: with metric %s it is the width "+
			"of a bucket, some times the distance of a neighbor; or give lsh.recall alone", metric)
	}
	return nil
}

// Given is the curve of tables and hashes that are given; ok is false where a recall is.
func (p *Params) Given(f Family, columns int) (c Curve, ok bool) {
	if p.Recall != nil {
		return Curve{}, false
	}
	c = Curve{Family: f, Tables: *p.Tables, Hashes: *p.Hashes, Columns: columns}
	if f.Wide() {
		c.Width = *p.Width
	}
	return c, true
}
