package run_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// said is a partial and a model of words.
type said struct{ words string }

func (s *said) Fields(f *jobs.Fields) { f.Text("words", &s.words) }

// recital is an algorithm whose model tells the records of each block of the input and the queries, as "ordinal:text",
// the parts of a block in brackets.
type recital struct {
	each  jobs.BlockRecords
	reads bool // the first phase reads its shard
}

func (r recital) BlockRecords() jobs.BlockRecords { return r.each }

func (r recital) Phases() []jobs.Phase {
	partial := func() *said { return new(said) }
	join := func(a, b *said) (*said, error) { return &said{a.words + b.words}, nil }
	first := jobs.MapReduce[jobs.Arrays, *said]{Name: "first", Partial: partial, Merge: join, Map: r.first,
		Step: func(_ context.Context, _ jobs.Arrays, _ *said, round jobs.Round) (jobs.Next, error) {
			trees := []int{round.Plan.Blocks}
			if round.Plan.QueryBlocks > 0 {
				trees = append(trees, round.Plan.QueryBlocks)
			}
			return jobs.Next{Phase: "recite", Trees: trees, State: jobs.ArraysOf(new(said))}, nil
		}}
	recite := jobs.MapReduce[jobs.Arrays, *said]{Name: "recite", Partial: partial, Merge: join, Map: r.recite,
		Forest: func(_ context.Context, _ jobs.Arrays, roots iter.Seq2[*said, error], _ jobs.Round) (jobs.Next, error) {
			all := &said{}
			for root, err := range roots {
				if err != nil {
					return jobs.Next{}, err
				}
				all.words += root.words + "."
			}
			return jobs.Next{Done: true, State: jobs.ArraysOf(all)}, nil
		}}
	return []jobs.Phase{first.Phase(), recite.Phase()}
}

func (r recital) first(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ *kernelops.Set) (*said, error) {
	if !r.reads {
		return new(said), nil
	}
	for _, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
	}
	return new(said), nil
}

func (r recital) recite(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, _ *kernelops.Set) (*said, error) {
	var words []string
	for part, err := range leaf.ReadBlock(ctx, jobs.Source(leaf.Tree), leaf.Index) {
		if err != nil {
			return nil, err
		}
		var some []string
		for i, text := range part.Texts {
			some = append(some, fmt.Sprintf("%d:%s", part.First+int64(i), text))
		}
		words = append(words, "["+strings.Join(some, " ")+"]")
	}
	return &said{strings.Join(words, "")}, nil
}

func texts(words ...string) (records []jobstest.Record) {
	for _, w := range words {
		records = append(records, jobstest.Record{Text: w})
	}
	return records
}

// recited runs an algorithm and returns what it recites.
func recited(t testing.TB, r jobs.Algorithm, spec protocol.JobSpec, shards []jobstest.Blocks,
	grouping jobstest.Grouping, options ...jobstest.Option) (string, []jobs.Metric, error) {
	result, err := jobstest.Run(t.Context(), r, spec, shards, kernelops.Generic(), grouping, options...)
	if err != nil {
		return "", nil, err
	}
	s, err := jobs.Load[said](result.Model)
	if err != nil {
		return "", nil, err
	}
	return s.words, result.Metrics, nil
}

func metricsOf(metrics []jobs.Metric) string {
	var all []string
	for _, m := range metrics {
		all = append(all, fmt.Sprintf("%s %s", m.Name, m.Value))
	}
	return strings.Join(all, "\n")
}

// Seven records in three shards of 3, 1 and 3, in blocks of two: the second block spans two shards, the last has one
// record. Readers yield up to two records at a time.
func TestBlocksByHand(t *testing.T) {
	shards := jobstest.Shards([][]jobstest.Record{texts("a", "b", "c"), texts("d"), texts("e", "f", "g")}, 2)
	queries := [][]jobstest.Record{texts("u"), nil, texts("v", "w")}
	for _, reads := range []bool{false, true} {
		r := recital{jobs.BlockRecords{jobs.Input: 2, jobs.Queries: 2}, reads}
		got, metrics, err := recited(t, r, protocol.JobSpec{}, shards, jobstest.Grouping{},
			jobstest.WithQueries(queries))
		want := "[0:a 1:b][2:c][3:d][4:e 5:f][6:g].[0:u][1:v][2:w]."
		if err != nil || got != want {
			t.Errorf("recited %s, want %s: %v", got, want, err)
		}
		told := metricsOf(metrics)
		for _, want := range []string{"blocks.count 4", "blocks.records 7", "blocks.queries.count 2",
			"blocks.queries.records 3", `phase \"first\" does not read them`} {
			if !strings.Contains(told, want) {
				t.Errorf("%q is not among the metrics:\n%s", want, told)
			}
		}
		passes := map[bool]string{false: `"6 shards were read`, true: `"3 shards were read`}[reads]
		if !strings.Contains(told, passes) {
			t.Errorf("%q is not among the metrics:\n%s", passes, told)
		}
	}
	_, metrics, err := recited(t, recital{jobs.BlockRecords{jobs.Input: 2}, true}, protocol.JobSpec{}, shards,
		jobstest.Grouping{}, jobstest.WithQueries(queries))
	if err != nil || strings.Contains(metricsOf(metrics), "read once more") {
		t.Errorf("%s: %v", metricsOf(metrics), err)
	}
}

// Whatever the cut into shards, the blocks that readers yield and the grouping, a block is the slice of the table.
func TestBlocksAreSlices(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "records")
		each := rapid.IntRange(1, 45).Draw(rt, "records of a block")
		words := make([]string, n)
		for i := range words {
			words[i] = fmt.Sprint("w", i)
		}
		var shards [][]jobstest.Record
		for from := 0; from < n; {
			to := min(n, from+rapid.IntRange(0, 15).Draw(rt, "records of a shard"))
			shards, from = append(shards, texts(words[from:to]...)), to
		}
		size := rapid.IntRange(1, 9).Draw(rt, "records at a time")
		r := recital{jobs.BlockRecords{jobs.Input: int64(each)}, rapid.Bool().Draw(rt, "reads")}
		if rapid.Bool().Draw(rt, "at most as many blocks") {
			r.each[jobs.Input] = jobs.InBlocks(each)
			each = (n + each - 1) / each
		}
		got, _, err := recited(t, r, protocol.JobSpec{}, jobstest.Shards(shards, size), jobstest.DrawGrouping(rt))
		if err != nil {
			rt.Fatal(err)
		}
		var want []string
		for i, w := range words {
			want = append(want, fmt.Sprintf("%d:%s", i, w))
		}
		if got = strings.NewReplacer("[", "", "] ", " ", "]", " ").Replace(got); got != strings.Join(want, " ")+" ." {
			rt.Fatalf("recited %s", got)
		}
		whole, _, err := recited(t, r, protocol.JobSpec{}, jobstest.Shards([][]jobstest.Record{texts(words...)}, each),
			jobstest.Grouping{})
		if blocks := strings.Count(whole, "["); err != nil || blocks != (n+each-1)/each {
			rt.Fatalf("%d records in %d blocks of %d: %v", n, blocks, each, err)
		}
	})
}

// withBad adds bad records to what a shard yields, before its first record and after its last.
func withBad(shard jobstest.Blocks, before, after int) jobstest.Blocks {
	skipped := func(n int) *dataset.Block {
		return &dataset.Block{Skipped: make([]dataset.Skip, n)}
	}
	return func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) {
			if before > 0 && !yield(skipped(before), nil) {
				return
			}
			for block, err := range shard(ctx) {
				if !yield(block, err) {
					return
				}
			}
			if after > 0 {
				yield(skipped(after), nil)
			}
		}
	}
}

// Bad records are counted when records are, once each, however often blocks meet them later; and they have no ordinal.
func TestSkippedRecordsOfBlocks(t *testing.T) {
	for _, reads := range []bool{false, true} {
		shards := jobstest.Shards([][]jobstest.Record{texts("a", "b", "c"), texts("d"), texts("e", "f", "g")}, 2)
		shards[0], shards[1], shards[2] = withBad(shards[0], 1, 2), withBad(shards[1], 4, 0), withBad(shards[2], 0, 1)
		r := recital{jobs.BlockRecords{jobs.Input: 2}, reads}
		var spec protocol.JobSpec
		spec.Spec.Input.OnBadRecord.SkipMax = 8
		got, metrics, err := recited(t, r, spec, shards, jobstest.Grouping{})
		if want := "[0:a 1:b][2:c][3:d][4:e 5:f][6:g]."; err != nil || got != want {
			t.Errorf("recited %s, want %s: %v", got, want, err)
		}
		told := metricsOf(metrics)
		if !strings.Contains(told, "first.skipped.count 8") || strings.Contains(told, "recite.skipped") {
			t.Errorf("%s", told)
		}
		spec.Spec.Input.OnBadRecord.SkipMax = 7
		_, _, err = recited(t, r, spec, shards, jobstest.Grouping{})
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord {
			t.Errorf("8 bad records, 7 may pass: %v", err)
		}
	}
}

// A block reads the shards that hold it and no others, each to its end: what is verified there is verified.
func TestBlocksReadTheirShards(t *testing.T) {
	var read []string
	watched := func(shard int, blocks jobstest.Blocks) jobstest.Blocks {
		return func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
			return func(yield func(*dataset.Block, error) bool) {
				for block, err := range blocks(ctx) {
					read = append(read, fmt.Sprintf("%d%s", shard, block.Texts[0]))
					if !yield(block, err) {
						return
					}
				}
				read = append(read, fmt.Sprintf("%d.", shard))
			}
		}
	}
	shards := jobstest.Shards([][]jobstest.Record{texts("a", "b", "c", "d", "e"), nil, texts("f", "g")}, 1)
	for i := range shards {
		shards[i] = watched(i, shards[i])
	}
	_, _, err := recited(t, recital{jobs.BlockRecords{jobs.Input: 3}, true}, protocol.JobSpec{}, shards,
		jobstest.Grouping{})
	counted := []string{"0a", "0b", "0c", "0d", "0e", "0.", "1.", "2f", "2g", "2."}
	first, last := counted[:6], counted[7:]
	if want := slices.Concat(counted, first, first, last, last); err != nil || !slices.Equal(read, want) {
		t.Errorf("read %v, want %v: %v", read, want, err)
	}
}

// A shard that has fewer records when its blocks are read, and blocks that nobody counted, are faults.
func TestBlocksThatAreNotThere(t *testing.T) {
	few, many := jobstest.Shards([][]jobstest.Record{texts("a", "b")}, 9), jobstest.Shards([][]jobstest.Record{texts(
		"a", "b", "c")}, 9)
	changed := func(first, then jobstest.Blocks) jobstest.Blocks {
		passes := 0
		return func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
			if passes++; passes > 1 {
				return then(ctx)
			}
			return first(ctx)
		}
	}
	r := recital{jobs.BlockRecords{jobs.Input: 5}, true}
	_, _, err := recited(t, r, protocol.JobSpec{}, []jobstest.Blocks{changed(many[0], few[0])}, jobstest.Grouping{})
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Errorf("fewer records: %v", err)
	}
	for what, algorithm := range map[string]jobs.Algorithm{
		"not over logical blocks": jobs.Phases(early{r}.Phases()), "there is no block": beyond{r},
		"from the second round on": early{r},
	} {
		_, _, err := recited(t, algorithm, protocol.JobSpec{}, many, jobstest.Grouping{})
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// beyond reads a block that there is not.
type beyond struct{ recital }

func (b beyond) Phases() []jobs.Phase {
	return []jobs.Phase{b.recital.Phases()[0], shifted{b.recital.Phases()[1]}}
}

type shifted struct{ jobs.Phase }

func (s shifted) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set) (
	partial, newCarry jobs.Arrays, err error) {
	leaf.Index++
	return s.Phase.Map(ctx, state, leaf, carry, ops)
}

// early reads blocks before the records were counted.
type early struct{ recital }

func (e early) Phases() []jobs.Phase { return []jobs.Phase{e.recital.Phases()[1]} }
