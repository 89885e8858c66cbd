package knn

import (
	"math"

	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/lsh"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Params of a job of kind NearestNeighbors.
type Params struct {
	Mode         string          `json:"mode"`
	Metric       metric          `json:"metric"`
	Index        searchIndex     `json:"index,omitempty"`
	LSH          *lsh.Params     `json:"lsh,omitempty"` // of index lsh alone
	P            *float64        `json:"p,omitempty"`   // of minkowski alone
	K            *int            `json:"k,omitempty"`   // exactly one of K and Radius
	Radius       *float64        `json:"radius,omitempty"`
	MaxNeighbors int             `json:"max_neighbors"`
	Counts       bool            `json:"counts"`
	LeaveOneOut  bool            `json:"leave_one_out"`
	Weights      string          `json:"weights"`
	Ties         string          `json:"ties"`
	RejectBelow  float64         `json:"reject_below"`
	Lists        string          `json:"lists"`
	StoreBase    bool            `json:"store_base"`
	Features     features.Params `json:"features"`
	Projection   *Projection     `json:"projection,omitempty"`
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

// maxNeighbors bounds max_neighbors.
const maxNeighbors = 1 << 20

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Choice("mode", &p.Mode, modeSearch, modeSearch, modeClassify, modeRegress).
			Says("search writes lists of neighbors, classify decides by their vote, regress by their mean."),
		params.Choice("metric", &p.Metric, l2, metrics...).Says("Distance of two records; edit compares texts, " +
			"jaccard the sets of features that are not 0. With precomputed, column j is the distance to record j of " +
			"spec.input, with similarity the largest is nearest."),
		params.Optional("p", &p.P).Missing("none").Within("at least 1").
			Says("The power of metric minkowski, which needs it."),
		params.Choice("index", &p.Index, "", indexExact, indexLSH).Missing(string(indexExact)).
			Says("exact compares a query with all records; lsh with those that collide with it in a hash table, by l2, l1, " +
				"cosine and hamming. It misses neighbors, whose share is measured, and lists fewer where fewer collide."),
		params.Optional("k", &p.K).Missing("5, unless radius is given").Within("1 to 10000").
			Says("Neighbors of a query: of equally near ones the first by id, else in the input. Give k or radius."),
		params.Optional("radius", &p.Radius).Missing("none").Within("at least 0, any for inner_product and similarity").
			Says("All neighbors at this distance or nearer."),
		params.Whole("max_neighbors", &p.MaxNeighbors, 1000, 1, maxNeighbors).
			Says("Most neighbors within radius; a query with more fails the job."),
		params.Flag("counts", &p.Counts, false).
			Says("With radius and mode search, counts the neighbors and lists none."),
		params.Flag("leave_one_out", &p.LeaveOneOut, true).
			Says("Without queries and held-out records, searches the base for its own records."),
		params.Choice("weights", &p.Weights, weightsUniform, weightsUniform, weightsDistance).
			Says("Weights of votes: equal, or 1 / distance."),
		params.Choice("ties", &p.Ties, tiesLabel, tiesLabel, tiesNearest).
			Says("What decides between classes with as many votes."),
		params.Number("reject_below", &p.RejectBelow, 0, "[0, 1]").
			Says("In mode classify, rejects a record whose best share of the votes is below this."),
		params.Choice("lists", &p.Lists, "", parts.CSV, parts.JSONL, parts.NPY, listsNone).
			Missing("csv in mode search, else none").
			Says("Format of the lists of neighbors. They name records by ids if there are any, in npy by numbers. " +
				"By k, npy also writes two arrays with a row for each query, as FAISS returns them: indices (int64 " +
				"[queries, k], -1 where there are fewer) and distances (float32)."),
		params.Flag("store_base", &p.StoreBase, false).
			Says("Puts the base into the model, which can then predict; it must fit into run.max_state_bytes."),
		p.Features.Section(),
		params.OptionalSection("projection", &p.Projection).
			Says("Projects rows into fewer dimensions before a search by l2.").
			From("Johnson and Lindenstrauss."),
		params.OptionalSection("lsh", &p.LSH).Missing("recall 0.9, with index lsh").
			Says("The hash tables of index lsh.").
			From("Gionis, Indyk and Motwani, VLDB 1999."),
	}
}

// Complete writes in the defaults that depend on the mode and the rule.
func (p *Params) Complete() {
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
	if p.Index == indexLSH && p.LSH == nil {
		p.LSH = lsh.Default()
	}
}

// Check rejects parameters that contradict each other.
func (p *Params) Check() error {
	for _, check := range []func() error{p.checkRule, p.checkVotes, p.checkMetric, p.checkIndex} {
		if err := check(); err != nil {
			return err
		}
	}
	if p.Projection != nil && p.Metric != l2 {
		return protocol.SpecFault("projection keeps Euclidean distances: metric l2, not %s", p.Metric)
	}
	if err := p.Features.CheckOnePass(KindName); err != nil {
		return err
	}
	return p.Features.CheckUnseen(KindName)
}

func (p Params) checkRule() error {
	switch {
	case p.K != nil && p.Radius != nil:
		return protocol.SpecFault("k and radius exclude each other")
	case p.K != nil && (*p.K < 1 || *p.K > maxK):
		return protocol.SpecFault("k is from 1 to %d, not %d", maxK, *p.K)
	case p.Radius != nil && math.IsNaN(*p.Radius) || p.Radius != nil && math.IsInf(*p.Radius, 0):
		return protocol.SpecFault("radius is a number, not %v", *p.Radius)
	case p.Radius != nil && *p.Radius < 0 && !p.Metric.signed():
		return protocol.SpecFault("radius is at least 0, not %v", *p.Radius)
	case p.Counts && (p.Radius == nil || p.Mode != modeSearch):
		return protocol.SpecFault("counts needs a radius, and mode search")
	case p.Mode == modeSearch && p.Lists == listsNone && !p.StoreBase:
		return protocol.SpecFault("mode search without lists leaves nothing; drop lists, or set store_base")
	}
	return nil
}

func (p Params) checkVotes() error {
	switch {
	case p.RejectBelow > 0 && p.Mode != modeClassify:
		return protocol.SpecFault("reject_below is for mode classify")
	case p.Weights == weightsDistance && p.Metric.signed():
		return protocol.SpecFault("weights by distance need distances of at least 0; %s has others", p.Metric)
	}
	return nil
}

func (p Params) checkMetric() error {
	switch {
	case p.P != nil && p.Metric != minkowski:
		return protocol.SpecFault("p is the power of metric minkowski, not of %s", p.Metric)
	case p.P == nil && p.Metric == minkowski:
		return protocol.SpecFault("metric minkowski needs its power p; l1, l2 and linf are those of 1, 2 and infinity")
	case p.P != nil && !(*p.P >= 1 && *p.P <= math.MaxFloat64):
		return protocol.SpecFault("p is a number of at least 1, not %v: below 1 minkowski is no distance", *p.P)
	case p.Metric == edit &&
		(p.Features.Scale != features.ScaleNone || p.Features.Hashing != nil || p.Features.TFIDF != nil):
		return protocol.SpecFault("features.scale, hashing and tfidf make vectors; metric edit compares texts")
	case p.Metric == hamming && (p.Features.Scale != features.ScaleNone || p.Features.TFIDF != nil):
		return protocol.SpecFault("metric hamming needs features of 0 and 1: no features.scale, no features.tfidf")
	case p.Metric.plain() && (p.Features.Scale != features.ScaleNone || p.Features.TFIDF != nil):
		return protocol.SpecFault("metric %s takes the values as they are: no features.scale, no features.tfidf",
			p.Metric)
	case p.Metric == jaccard && p.Features.Hashing != nil && p.Features.Hashing.Signed:
		return protocol.SpecFault("metric jaccard compares sets; of features.hashing.signed colliding words may cancel")
	case p.Metric.given() && p.StoreBase:
		return protocol.SpecFault("with metric %s a record is its columns with spec.input, and of no use to a model: "+
			"leave store_base out", p.Metric)
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

// truth is what labels of queries are.
func (p Params) truth() pairwise.Truth {
	switch p.Mode {
	case modeClassify:
		return pairwise.Classes
	case modeRegress:
		return pairwise.Values
	}
	return pairwise.NoTruth
}

// Projection is the number of dimensions into which rows are projected before an l2 search.
type Projection struct {
	Eps    float64 `json:"eps,omitempty"` // one of Eps and Dims
	Dims   int     `json:"dims,omitempty"`
	Sample int     `json:"sample"`
}

// Parameters declares the parameters.
func (r *Projection) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Number("eps", &r.Eps, 0, "(0, 1)").
			Says("Dimensions that keep squared distances to a factor of 1 ± eps. Give eps or dims.").
			From("Dasgupta and Gupta, theorem 2.1."),
		params.Whole("dims", &r.Dims, 0, 1, maxDims).Says("The number of dimensions."),
		params.Whole("sample", &r.Sample, defaultSample, 0, 1_000_000).
			Says("About how many queries are searched exactly too, and pairs of points measured; 0 measures nothing."),
	}
}

// Check rejects a projection without a number of dimensions, or with two.
func (r *Projection) Check() error {
	if (r.Eps == 0) == (r.Dims == 0) {
		return protocol.SpecFault("projection needs one of eps and dims")
	}
	return nil
}

// UnmarshalJSON writes the default sample in.
func (r *Projection) UnmarshalJSON(data []byte) error {
	type plain Projection
	q := plain{Sample: defaultSample}
	if err := protocol.StrictDecode(data, &q); err != nil {
		return err
	}
	*r = Projection(q)
	return nil
}
