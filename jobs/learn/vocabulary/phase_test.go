package vocabulary

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
	"pgregory.net/rapid"
)

func everyRecord() jobs.Choice {
	return func(*dataset.Block, int) bool { return true }
}

func newPhase(t testing.TB, params Params, records jobs.Records) jobs.Phase {
	t.Helper()
	b, err := New(params, records)
	if err != nil {
		t.Fatal(err)
	}
	return jobs.MapReduce[struct{}, *Counts]{
		Name: Name, Partial: func() *Counts { return new(Counts) }, Merge: (*Counts).Plus,
		Map: func(ctx context.Context, _ struct{}, leaf jobs.Leaf, _ *kernelops.Set) (*Counts, error) {
			return b.Count(ctx, leaf)
		},
		Step: func(_ context.Context, _ struct{}, root *Counts, _ jobs.Round) (jobs.Next, error) {
			found, metrics, err := b.Finish(root)
			if err != nil {
				return jobs.Next{}, err
			}
			return jobs.Next{State: jobs.ArraysOf(found), Metrics: metrics}, nil
		},
	}.Phase()
}

// count maps every shard and merges the partials from left to right.
func count(t testing.TB, phase jobs.Phase, shards [][]jobstest.Record) jobs.Arrays {
	t.Helper()
	var root jobs.Arrays
	for i, blocks := range jobstest.Shards(shards, 2) {
		partial, _, err := phase.Map(t.Context(), nil, jobs.Leaf{Index: i, Blocks: blocks}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if root == nil {
			root = partial
			continue
		}
		if root, err = phase.Merge(root, partial); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// The two strings of Smola and Vishwanathan, figure 1.15, one in each shard.
var figure115 = [][]jobstest.Record{
	{{Label: "x1", Text: "The quick brown fox jumped over the lazy dog."}},
	{{Label: "x2", Text: "The dog hunts a fox."}},
}

func TestPartialByHand(t *testing.T) {
	root, err := jobs.Read(count(t, newPhase(t, DefaultParams(), everyRecord), figure115), &Counts{})
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"a", "brown", "dog", "fox", "hunts", "jumped", "lazy", "over", "quick", "the"}
	if got := root.Terms.Keys.List(); !slices.Equal(got, words) {
		t.Errorf("terms %q", got)
	}
	if got := root.Terms.Columns[0]; !slices.Equal(got, []int64{1, 1, 2, 2, 1, 1, 1, 1, 1, 3}) {
		t.Errorf("occurrences %v", got)
	}
	if got := root.Terms.Columns[1]; !slices.Equal(got, []int64{1, 1, 2, 2, 1, 1, 1, 1, 1, 2}) {
		t.Errorf("documents %v", got)
	}
	documents := sums.Total(root.Labels.Columns[0])
	if got := root.Labels.Keys.List(); !slices.Equal(got, []string{"x1", "x2"}) || documents != 2 {
		t.Errorf("labels %q", got)
	}
}

// "the" 3, then "dog" and "fox" 2 each, then the others in byte order.
func TestDictionaryByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Params)
		want   string
	}{
		{"all", func(*Params) {}, "the dog fox a brown hunts jumped lazy over quick"},
		{"min_df as a count", func(p *Params) { p.MinDF = 2 }, "the dog fox"},
		{"min_df as a share", func(p *Params) { p.MinDF = 0.6 }, "the dog fox"},
		{"min_df share met exactly", func(p *Params) { p.MinDF = 0.5 },
			"the dog fox a brown hunts jumped lazy over quick"},
		{"max_df as a count", func(p *Params) { p.MaxDF = 1 }, "a brown hunts jumped lazy over quick"},
		{"max_df as a share", func(p *Params) { p.MaxDF = 0.9 }, "a brown hunts jumped lazy over quick"},
		{"max_features", func(p *Params) { p.MaxFeatures = 4 }, "the dog fox a"},
		{"stop words", func(p *Params) { p.StopWords = []string{"the", "a"}; p.MaxFeatures = 3 }, "dog fox brown"},
		{"case", func(p *Params) { p.Lowercase = false; p.MaxFeatures = 4 }, "The dog fox a"},
		{"pairs", func(p *Params) { p.NgramMin, p.NgramMax, p.MaxFeatures = 2, 2, 2 }, "a fox|brown fox"},
	} {
		params := DefaultParams()
		c.change(&params)
		phase := newPhase(t, params, everyRecord)
		next, err := phase.Step(t.Context(), nil, jobs.RoundOf(jobs.Plan{}, count(t, phase, figure115)))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		found, err := jobs.Read(next.State, &Found{})
		if err != nil {
			t.Fatal(err)
		}
		want := strings.FieldsFunc(c.want, func(r rune) bool { return r == '|' || r == ' ' && c.name != "pairs" })
		if got := found.Dictionary.Terms.List(); !slices.Equal(got, want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// Only training records count, neither their words nor their labels.
func TestTestRecordsDoNotCount(t *testing.T) {
	first := func() jobs.Choice {
		return func(b *dataset.Block, i int) bool { return b.IDs[i].Offset == 0 }
	}
	root, err := jobs.Read(count(t, newPhase(t, DefaultParams(), first), figure115), &Counts{})
	if err != nil {
		t.Fatal(err)
	}
	documents := sums.Total(root.Labels.Columns[0])
	if documents != 1 || root.Labels.Keys.Len() != 1 || root.Terms.Keys.Len() != 8 {
		t.Errorf("%d documents, labels %q, terms %q", documents, root.Labels.Keys.List(), root.Terms.Keys.List())
	}
}

func TestMergeIsAssociative(t *testing.T) {
	words := rapid.SliceOfN(rapid.StringMatching(`[a-c]{1,2}`), 0, 5)
	phase := newPhase(t, DefaultParams(), everyRecord)
	var partials []jobs.Arrays
	for i := range 7 {
		record := jobstest.Record{Label: "xyz"[i%3 : i%3+1], Text: strings.Join(words.Example(i), " ")}
		partials = append(partials, count(t, phase, [][]jobstest.Record{{record}}))
	}
	jobstest.CheckAssociative(t, phase.Merge, partials)
}

func TestStepRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		minDF, maxDF float64
		shards       [][]jobstest.Record
		code         protocol.Code
	}{
		"no record":          {1, 0, [][]jobstest.Record{{}}, protocol.CodeInputEmpty},
		"no term":            {1, 0, [][]jobstest.Record{{{Label: "x", Text: "..."}}}, protocol.CodeInputEmpty},
		"none is kept":       {3, 0, figure115, protocol.CodeInputEmpty},
		"min_df over max_df": {2, 1, figure115, protocol.CodeSpecInvalid},
		"shares cross":       {0.9, 0.1, figure115, protocol.CodeSpecInvalid},
	} {
		params := DefaultParams()
		params.MinDF, params.MaxDF = c.minDF, c.maxDF
		phase := newPhase(t, params, everyRecord)
		_, err := phase.Step(t.Context(), nil, jobs.RoundOf(jobs.Plan{}, count(t, phase, c.shards)))
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != c.code {
			t.Errorf("%s: want %s, got %v", name, c.code, err)
		}
	}
}

func TestMalformedPartials(t *testing.T) {
	phase := newPhase(t, DefaultParams(), everyRecord)
	good := count(t, phase, figure115)
	for name, spoil := range map[string]func(jobs.Arrays){
		"unsorted": func(a jobs.Arrays) { a.PutStrings(labels, jobs.StringsOf("b", "a")) },
		"twice":    func(a jobs.Arrays) { a.PutStrings(labels, jobs.StringsOf("a", "a")) },
		"lengths":  func(a jobs.Arrays) { jobs.Put(a, "terms.count", []int64{1}) },
		"missing":  func(a jobs.Arrays) { delete(a, "terms.documents") },
	} {
		bad := count(t, phase, figure115)
		spoil(bad)
		for _, err := range []error{second(phase.Merge(bad, good)), second(phase.Merge(good, bad))} {
			var fault *protocol.Fault
			if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
				t.Errorf("%s: want CORRUPT, got %v", name, err)
			}
		}
	}
}

func second(_ jobs.Arrays, err error) error { return err }

func TestRecordsMustBeLabelledTexts(t *testing.T) {
	phase := newPhase(t, DefaultParams(), everyRecord)
	unlabelled := func(context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) {
			yield(&dataset.Block{IDs: make([]dataset.Identity, 1), Texts: [][]byte{[]byte("a")}}, nil)
		}
	}
	vectors := jobstest.Shards([][]jobstest.Record{jobstest.DenseRecords([][]float32{{1}}, "a")}, 1)[0]
	for name, blocks := range map[string]jobstest.Blocks{"unlabelled": unlabelled, "vectors": vectors} {
		_, _, err := phase.Map(t.Context(), nil, jobs.Leaf{Blocks: blocks}, nil, nil)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord {
			t.Errorf("%s: want BAD_RECORD, got %v", name, err)
		}
	}
}
