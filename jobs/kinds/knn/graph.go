package knn

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// GraphKindName is the kind of a graph in a spec.
const GraphKindName = "NeighborGraph"

// GraphKind is the graph of the nearest neighbors as a declared kind of job. It has nothing to predict with.
func GraphKind() jobs.Kind {
	return jobs.Kind{Name: GraphKindName, UsesQueries: true, Params: params.Of[GraphParams](),
		Summary: "Writes the graph of the k nearest neighbors, exactly, as the arrays that UMAP, scanpy and scipy take.",
		New:     NewGraph, Describe: describe.Of(jobs.Load[graphModel], (*graphModel).describe), Figures: GraphFigures}
}

// GraphParams are those of a job of kind NeighborGraph.
type GraphParams struct {
	K        int             `json:"k"`
	Self     bool            `json:"self"`
	Metric   metric          `json:"metric"`
	P        *float64        `json:"p,omitempty"` // of minkowski alone
	Features features.Params `json:"features"`
}

// defaultGraphK is n_neighbors of UMAP and scanpy.
const defaultGraphK = 15

// graphMetrics are those whose distances are at least 0, which edges of a graph have.
var graphMetrics = []metric{l2, cosine, l1, linf, hamming, edit, minkowski, jaccard, haversine, precomputed}

// Parameters declares the parameters.
func (p *GraphParams) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Whole("k", &p.K, defaultGraphK, 1, maxK).
			Says("Columns of the arrays: neighbors of a record, with self the record among them, as n_neighbors of " +
				"UMAP and scanpy. Of equally near ones the first by id, else in the input. A table with fewer fails."),
		params.Flag("self", &p.Self, true).
			Says("Begins the row of each record with itself, at distance 0, as UMAP takes it; the CSR arrays " +
				"never have this. With spec.queries it changes nothing: a query is no record of spec.input."),
		params.Choice("metric", &p.Metric, l2, graphMetrics...).
			Says("Distance of two records, as in " + KindName + "."),
		params.Optional("p", &p.P).Missing("none").Within("at least 1").
			Says("The power of metric minkowski, which needs it."),
		p.Features.Section(),
	}
}

// Check rejects parameters that contradict each other.
func (p *GraphParams) Check() error {
	if err := p.search(p.K).checkMetric(); err != nil {
		return err
	}
	if err := p.Features.CheckOnePass(GraphKindName); err != nil {
		return err
	}
	return p.Features.CheckUnseen(GraphKindName)
}

// search are the parameters of the search of k neighbors.
func (p GraphParams) search(k int) Params {
	return Params{Mode: modeSearch, Metric: p.Metric, P: p.P, K: &k, LeaveOneOut: true, Lists: parts.NPY,
		Features: p.Features}
}

// NewGraph makes the algorithm: phases "index", "neighbors" and "mistakes".
func NewGraph(spec protocol.JobSpec) (jobs.Algorithm, error) { return newGraph(spec, usual) }

func newGraph(spec protocol.JobSpec, grain grain) (jobs.Algorithm, error) {
	own, err := params.Parse[GraphParams](spec.Spec.Params)
	if err != nil {
		return nil, err
	}
	if spec.Spec.Input.Split.HoldsOut() {
		return nil, protocol.SpecFault("spec.input.split holds records out, and a graph is of all").
			WithHint("Leave it out. Records that are to be searched in others belong into spec.queries.")
	}
	g := &graph{GraphParams: own}
	g.Self = own.Self && spec.Spec.Queries == nil
	if g.Self && own.K < 2 {
		return nil, protocol.SpecFault("spec.params: k is 1, and each record itself the one: nothing is searched").
			WithHint("Raise k, or set self to false.")
	}
	p := newPlan(own.search(g.listed()), spec, grain)
	p.graph = g
	if err := p.buildVectors(spec); err != nil {
		return nil, err
	}
	return append(jobs.Phases{p.indexPhase()}, p.search().Phases()...), nil
}

// graph is what the result of a search becomes; Self is false where the rows are queries.
type graph struct{ GraphParams }

// listed is how many neighbors are searched.
func (g *graph) listed() int {
	if g.Self {
		return g.K - 1
	}
	return g.K
}

// checkSize refuses a base that is too small for its graph, before it is searched.
func (p *plan) checkSize(records int64) error {
	if p.graph == nil {
		return nil
	}
	most, among := records, ""
	switch {
	case p.graph.Self:
		among = ", each record itself among its neighbors"
	case p.Own != nil:
		most--
		among = ", and no record is its own neighbor"
	}
	if int64(p.graph.K) <= most {
		return nil
	}
	return protocol.EmptyFault("params.k is %d; spec.input has %d records%s, so a row has at most %d neighbors",
		p.graph.K, records, among, most).WithHint("Lower params.k, or check spec.input.")
}

// graphModel tells what the arrays were made of.
type graphModel struct {
	params GraphParams
	*space
}

// Fields lists the model.
func (m *graphModel) Fields(f *jobs.Fields) {
	f.Kind(GraphKindName, 1)
	paramsField(f, &m.params)
	jobs.Make(f, &m.space).params = m.params.search(m.params.K)
	m.space.Fields(f)
}

// describe tells people what the graph is, and where its arrays are.
func (m *graphModel) describe(p *describe.Page) error {
	p.Fact("kind", "%s", GraphKindName)
	by := string(m.params.Metric)
	if m.params.P != nil {
		p.Fact("metric", "%s (p = %v)", by, *m.params.P)
	} else {
		p.Fact("metric", "%s", by)
	}
	if m.vectors != nil {
		p.Fact("vectors", "%s, scale %s", protocol.Counted(m.vectors.Width, "column"), m.vectors.Scale())
	}
	p.Fact("neighbors", "among %s, k = %d", protocol.Counted(m.records, "record"), m.params.K)
	p.Fact("arrays", "%s and %s, a row for each record; %s, %s and %s of scipy.sparse.csr_matrix", indicesFolder,
		distancesFolder, csrData, csrIndices, csrEnds)
	return nil
}
