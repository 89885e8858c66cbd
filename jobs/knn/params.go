package knn

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/parts"
	"github.com/gram-compute/gram/jobs/validate"
	"github.com/gram-compute/gram/protocol"
)

// Params of a job of kind NearestNeighbors.
type Params struct {
	// Mode is "search" (lists), "classify" (a vote) or "regress" (a mean; labels are numbers).
	Mode   string `json:"mode"`
	Metric metric `json:"metric"` // see the package
	// K is the length of a list, from 1 to 10,000; 5 unless a radius is given. Exactly one of
	// K and Radius.
	K      *int     `json:"k,omitempty"`
	Radius *float64 `json:"radius,omitempty"` // all neighbors at this distance or nearer
	// MaxNeighbors bounds a list by radius; a longer one is an INPUT_LIMIT fault.
	MaxNeighbors int `json:"max_neighbors"`
	// Counts, with a radius in mode search, counts the neighbors and lists none.
	Counts bool `json:"counts"`
	// LeaveOneOut, where there are neither queries nor held-out records, searches the base for its
	// own records; without it the job ends with the model.
	LeaveOneOut bool `json:"leave_one_out"`
	// Weights of votes: "uniform", or "distance" for 1/d.
	Weights     string  `json:"weights"`
	Ties        string  `json:"ties"`         // "label" or "nearest"
	RejectBelow float64 `json:"reject_below"` // share of the votes, in [0, 1]
	// Lists writes the neighbors as "csv", "jsonl" or "npy" parts, or not at all ("none"): the
	// default in modes classify and regress.
	Lists string `json:"lists"`
	// StoreBase puts the base into the model, which can then predict. It must fit
	// into run.max_state_bytes.
	StoreBase  bool            `json:"store_base"`
	Features   features.Params `json:"features"`
	Projection *Projection     `json:"projection,omitempty"`
}

// Projection says into how many dimensions rows are projected before an l2 search.
type Projection struct {
	Eps  float64 `json:"eps,omitempty"`  // in (0, 1): dimensions by Johnson and Lindenstrauss
	Dims int     `json:"dims,omitempty"` // or their number
	// Sample is how many queries, about, are searched exactly as well, and how many pairs of
	// points, about, are measured. 0 measures nothing.
	Sample int `json:"sample"`
}

const (
	modeSearch   = "search"
	modeClassify = "classify"
	modeRegress  = "regress"

	weightsUniform  = "uniform"
	weightsDistance = "distance"

	tiesLabel   = "label"
	tiesNearest = "nearest"

	listsNone = "none"
)

const (
	defaultK      = 5
	maxK          = 10_000
	maxDims       = 1 << 16
	defaultSample = 1000
)

// DefaultParams are those of a plain search by l2 for five neighbors.
func DefaultParams() Params {
	return Params{Mode: modeSearch, Metric: l2, MaxNeighbors: 1000, Weights: weightsUniform, Ties: tiesLabel, LeaveOneOut: true,
		Features: features.DefaultParams()}
}

// Defaults returns params with every default written in; a *protocol.Fault of
// CodeSpecInvalid says what is wrong with them.
func Defaults(params json.RawMessage) (json.RawMessage, error) {
	p, err := parseParams(params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

func parseParams(params json.RawMessage) (Params, error) {
	p := DefaultParams()
	if err := validate.Decode(params, &p); err != nil {
		return Params{}, err
	}
	if p.K == nil && p.Radius == nil {
		k := defaultK
		p.K = &k
	}
	if p.Lists == "" {
		p.Lists = listsNone
		if p.Mode == modeSearch {
			p.Lists = parts.CSV
		}
	}
	if err := p.check(); err != nil {
		return Params{}, validate.In("spec.params", err)
	}
	return p, nil
}

// UnmarshalJSON writes the default sample in.
func (p *Projection) UnmarshalJSON(data []byte) error {
	type plain Projection
	q := plain{Sample: defaultSample}
	if err := protocol.StrictDecode(data, &q); err != nil {
		return err
	}
	*p = Projection(q)
	return nil
}

func (p Params) check() error {
	if !p.Metric.known() {
		return protocol.SpecFault("metric is one of %q, not %q", metrics, p.Metric)
	}
	err := errors.Join(
		validate.OneOf("mode", p.Mode, modeSearch, modeClassify, modeRegress),
		validate.OneOf("weights", p.Weights, weightsUniform, weightsDistance),
		validate.OneOf("ties", p.Ties, tiesLabel, tiesNearest),
		validate.OneOf("lists", p.Lists, parts.CSV, parts.JSONL, parts.NPY, listsNone),
		p.checkRule(), p.checkVotes(), p.checkProjection(), validate.In("features", p.Features.Check()))
	return first(err)
}

// first unpacks the first of joined errors.
func first(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}

func (p Params) checkRule() error {
	switch {
	case p.K != nil && p.Radius != nil:
		return protocol.SpecFault("k and radius exclude each other")
	case p.K != nil && (*p.K < 1 || *p.K > maxK):
		return protocol.SpecFault("k is from 1 to %d, not %d", maxK, *p.K)
	case p.Radius != nil && math.IsNaN(*p.Radius) || p.Radius != nil && math.IsInf(*p.Radius, 0):
		return protocol.SpecFault("radius is a number, not %v", *p.Radius)
	case p.Radius != nil && *p.Radius < 0 && p.Metric != innerProduct:
		return protocol.SpecFault("radius is at least 0, not %v", *p.Radius)
	case p.MaxNeighbors < 1 || p.MaxNeighbors > 1<<20:
		return protocol.SpecFault("max_neighbors is from 1 to %d, not %d", 1<<20, p.MaxNeighbors)
	case p.Counts && (p.Radius == nil || p.Mode != modeSearch):
		return protocol.SpecFault("counts needs a radius, and mode search")
	case p.Mode == modeSearch && p.Lists == listsNone && !p.StoreBase:
		return protocol.SpecFault("mode search without lists leaves nothing; drop lists, or set store_base")
	}
	return nil
}

func (p Params) checkVotes() error {
	switch {
	case !(p.RejectBelow >= 0 && p.RejectBelow <= 1):
		return protocol.SpecFault("reject_below is in [0, 1], not %v", p.RejectBelow)
	case p.RejectBelow > 0 && p.Mode != modeClassify:
		return protocol.SpecFault("reject_below is for mode classify")
	case p.Weights == weightsDistance && p.Metric == innerProduct:
		return protocol.SpecFault("weights by distance need distances of at least 0; inner_product has others")
	case p.Metric == edit && (p.Features.Scale != features.ScaleNone || p.Features.Hashing != nil):
		return protocol.SpecFault("features.scale and features.hashing make vectors; metric edit compares texts")
	case p.Metric == hamming && p.Features.Scale != features.ScaleNone:
		return protocol.SpecFault("metric hamming needs features of 0 and 1: no features.scale")
	}
	return nil
}

func (p Params) checkProjection() error {
	r := p.Projection
	switch {
	case r == nil:
		return nil
	case p.Metric != l2:
		return protocol.SpecFault("projection keeps Euclidean distances: metric l2, not %s", p.Metric)
	case (r.Eps == 0) == (r.Dims == 0):
		return protocol.SpecFault("projection needs one of eps and dims")
	case r.Dims == 0 && !(r.Eps > 0 && r.Eps < 1):
		return protocol.SpecFault("projection.eps is in (0, 1), not %v", r.Eps)
	case r.Eps == 0 && (r.Dims < 1 || r.Dims > maxDims):
		return protocol.SpecFault("projection.dims is from 1 to %d, not %d", maxDims, r.Dims)
	case r.Sample < 0 || r.Sample > 1_000_000:
		return protocol.SpecFault("projection.sample is from 0 to 1000000, not %d", r.Sample)
	}
	return nil
}

// rule is what a list keeps.
func (p Params) rule() rule {
	if p.K != nil {
		return rule{k: *p.K}
	}
	return rule{radius: *p.Radius, most: p.MaxNeighbors, counts: p.Counts}
}
