package pairwise

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// sums are the sum of x y over the base, for each query x.
type sums []float64

func (s *sums) Fields(f *jobs.Fields) { jobs.List(f, "sums", (*[]float64)(s)) }

func (s *sums) plus(right *sums) (*sums, error) {
	all := make(sums, len(*s))
	for i := range all {
		all[i] = (*s)[i] + (*right)[i]
	}
	return &all, nil
}

// products is a job that decides for the product of a query with the sum of the base.
type products struct {
	Sides
	truth Truth
}

func (p products) Phases() []jobs.Phase {
	return Phase[struct{}, *sums]{
		Name: "products", Sides: p.Sides, Partial: func() *sums { return new(sums) }, Merge: (*sums).plus,
		State:   func(jobs.Arrays) (none struct{}, _ error) { return none, nil },
		Find:    p.find,
		Answers: func(struct{}) jobs.Answers { return p.answers() },
		Decider: func(struct{}) Decider[*sums] { return p },
		Finish:  func(next jobs.Next) (jobs.Next, error) { next.Done = true; return next, nil },
	}.Phases()
}

func (p products) answers() jobs.Answers {
	if p.truth == Values {
		return jobs.Answers{Value: "product"}
	}
	return jobs.Answers{Labels: []string{"2", "4"}}
}

func (p products) find(
	ctx context.Context, _ struct{}, leaf jobs.Leaf, _ *kernelops.Set,
) (*sums, *Asked, error) {
	var queries []float64
	add := func(b *dataset.Block, keep jobs.Choice) (places []int, _ error) {
		for i := range b.IDs {
			if keep == nil || keep(b, i) {
				places, queries = append(places, i), append(queries, float64(b.Dense.Row(i)[0]))
			}
		}
		return places, nil
	}
	asked, err := p.Ask(ctx, leaf, p.truth, add)
	if err != nil {
		return nil, nil, err
	}
	found, keep := make(sums, len(queries)), p.Base()
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		for i := range block.IDs {
			for q, x := range queries {
				if keep(block, i) {
					found[q] += float64(x * float64(block.Dense.Row(i)[0]))
				}
			}
		}
	}
	return &found, asked, nil
}

func (p products) Decide(ctx context.Context, t Tree, found *sums) error {
	for i, v := range *found {
		o := jobs.Outcome{Label: strconv.Itoa(int(v)), Value: v, Rejected: v == 0}
		if err := t.Judge(i, o); err != nil {
			return err
		}
	}
	table := parts.Table{{Name: "query", Ints: t.Queries}, {Name: "sum", Floats: *found}}
	return t.Write(ctx, "sums", parts.CSV, nil, table)
}

func (products) Metrics() ([]jobs.Metric, error) {
	return []jobs.Metric{jobs.CountMetric("known", 1)}, nil
}

func every() jobs.Choice { return func(*dataset.Block, int) bool { return true } }

// odd are the records whose number is odd.
func odd() jobs.Choice {
	return func(b *dataset.Block, i int) bool { return b.IDs[i].Offset%2 == 1 }
}

func even() jobs.Choice {
	return func(b *dataset.Block, i int) bool { return b.IDs[i].Offset%2 == 0 }
}

// base adds up to 2.
func base() [][]jobstest.Record {
	return [][]jobstest.Record{
		jobstest.DenseRecords([][]float32{{3}, {1}}), jobstest.DenseRecords([][]float32{{-4}}),
		jobstest.DenseRecords([][]float32{{2}}),
	}
}

func run(t *testing.T, p products, base [][]jobstest.Record, options ...jobstest.Option) (jobstest.Result, error) {
	t.Helper()
	// a first phase begins the forest
	algorithm := begin{p}
	return jobstest.Run(t.Context(), algorithm, protocol.JobSpec{}, jobstest.Shards(base, 2), kernelops.Best(),
		jobstest.Grouping{}, options...)
}

// begin is a phase that does nothing but go on with the forest.
type begin struct{ products }

func (b begin) Phases() []jobs.Phase {
	nothing := jobs.MapReduce[struct{}, *sums]{
		Name: "begin", Partial: func() *sums { return new(sums) }, Merge: (*sums).plus,
		Map: func(context.Context, struct{}, jobs.Leaf, *kernelops.Set) (*sums, error) { return new(sums), nil },
		Step: func(_ context.Context, _ struct{}, _ *sums, round jobs.Round) (jobs.Next, error) {
			return jobs.Next{Phase: "products", Trees: slices.Repeat([]int{round.Plan.Shards}, b.Trees(round.Plan)),
				State: jobs.Arrays{}}, nil
		},
	}.Phase()
	return append([]jobs.Phase{nothing}, b.products.Phases()...)
}

func metric(r jobstest.Result, name string) string {
	for _, m := range r.Metrics {
		if m.Name == name {
			return string(m.Value)
		}
	}
	return ""
}

// The queries 1, 2 and 0 lie in two shards: their sums are 2, 4 and 0. The last is rejected, the second a mistake.
func TestQueriesByHand(t *testing.T) {
	queries := jobstest.WithQueries([][]jobstest.Record{
		jobstest.DenseRecords([][]float32{{1}}, "2"), jobstest.DenseRecords([][]float32{{2}, {0}}, "2", "4"),
	})
	r, err := run(t, products{Sides{Base: every}, Classes}, base(), queries)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"sums/part-000000.csv": "query,sum\n0,2\n", "sums/part-000001.csv": "query,sum\n1,4\n2,0\n",
	} {
		if got := string(r.Files[name]); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if _, ok := r.Files["sums/index.json"]; !ok || metric(r, "known") != "1" {
		t.Error("no index, or no metric")
	}
	mistakes := metric(r, "evaluation.mistakes")
	if strings.Count(mistakes, `"truth"`) != 2 || !strings.Contains(mistakes, `"truth":"2","decided":"4"`) {
		t.Errorf("mistakes %s", mistakes)
	}
}

// Of the base itself the records 1 and 3 are asked, which are 1 and 2; the others add up to -1. Numbers count all
// records.
func TestOwnRecordsByHand(t *testing.T) {
	r, err := run(t, products{Sides{Base: even, Own: odd}, NoTruth}, base())
	if err != nil {
		t.Fatal(err)
	}
	var all string
	for _, name := range []string{"sums/part-000000.csv", "sums/part-000001.csv", "sums/part-000002.csv"} {
		all += strings.TrimPrefix(string(r.Files[name]), "query,sum\n")
	}
	if all != "1,-1\n3,-2\n" || metric(r, "evaluation") != "" {
		t.Errorf("sums %q, judged %s", all, metric(r, "evaluation"))
	}
}

func number(id dataset.Identity, label []byte) (float64, error) {
	v, err := strconv.ParseFloat(string(label), 64)
	if err != nil {
		return 0, id.Fault("no number")
	}
	return v, nil
}

// Numbers are judged by their errors: 2 for 2 and 4 for 5 make a mean absolute error of 1/2; the rejected one has none.
func TestValuesByHand(t *testing.T) {
	p := products{Sides{Base: every, Number: number}, Values}
	queries := func(labels ...string) jobstest.Option {
		return jobstest.WithQueries([][]jobstest.Record{jobstest.DenseRecords([][]float32{{1}, {2}, {0}}, labels...)})
	}
	r, err := run(t, p, base(), queries("2", "5", "7"))
	if got := metric(r, "evaluation.regression"); err != nil || !strings.Contains(got, `"records":2`) {
		t.Errorf("%s, %v", got, err)
	}
	var fault *protocol.Fault
	_, err = run(t, p, base(), queries("2", "x", "7"))
	if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord {
		t.Error(err)
	}
}

// Five shards on two leaves are 2 and 3. However many leaves there are, their runs follow each other and are the base.
func TestRunsOfShards(t *testing.T) {
	if a, b := RunOf(5, 2, 0), RunOf(5, 2, 1); a != (Run{0, 2}) || b != (Run{2, 5}) {
		t.Errorf("runs %v and %v", a, b)
	}
	for shards := 1; shards < 40; shards++ {
		for leaves := 1; leaves <= shards; leaves++ {
			end := 0
			for leaf := range leaves {
				r := RunOf(shards, leaves, leaf)
				if n := r.End - r.First; r.First != end || n != shards/leaves && n != (shards+leaves-1)/leaves {
					t.Fatalf("leaf %d of %d over %d shards: %v after %d", leaf, leaves, shards, r, end)
				}
				end = r.End
			}
			if end != shards {
				t.Fatalf("%d leaves have %d of %d shards", leaves, end, shards)
			}
		}
	}
}

func TestGroupingNeverShows(t *testing.T) {
	queries := jobstest.WithQueries([][]jobstest.Record{
		jobstest.DenseRecords([][]float32{{1}}, "2"), jobstest.DenseRecords([][]float32{{2}, {0}}, "2", "4"),
	})
	algorithm := begin{products{Sides{Base: every}, Classes}}
	jobstest.CheckGrouping(t, algorithm, protocol.JobSpec{}, base(), kernelops.Best(), queries)
}

// What a root says of its queries is checked against their number, and must be there.
func TestHostileQueries(t *testing.T) {
	asked := &Asked{numbers: []int64{0, 2}, shard: 3, truth: Classes, labels: jobs.StringsOf("a", "b")}
	for name, spoil := range map[string]func(jobs.Arrays){
		"fewer labels": func(a jobs.Arrays) { a.PutStrings("query.labels", jobs.StringsOf("a")) },
		"no shard":     func(a jobs.Arrays) { delete(a, "query.shard") },
		"fewer values": func(a jobs.Arrays) {
			delete(a, "query.labels"+".bytes")
			jobs.Put(a, "query.values", []float64{1})
		},
	} {
		a := jobs.ArraysOf(asked)
		spoil(a)
		var fault *protocol.Fault
		if _, err := jobs.Read(a, &Asked{}); !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
	search := products{Sides{Base: every}, NoTruth}.Phases()[0]
	round := jobs.RoundOf(jobs.Plan{Shards: 1, QueryShards: 1}, jobs.ArraysOf(&sums{1}))
	_, err := search.Step(t.Context(), jobs.Arrays{}, round)
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Errorf("a root without its queries: %v", err)
	}
}
