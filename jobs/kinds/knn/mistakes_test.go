package knn

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/protocol"
)

// squares are pictures of 4 x 4, all of one gray each.
func squares(labels string, grays ...float32) []jobstest.Record {
	rows, names := [][]float32{}, []string{}
	for i, gray := range grays {
		rows = append(rows, slices.Repeat([]float32{gray}, 16))
		names = append(names, labels[i:i+1])
	}
	return jobstest.DenseRecords(rows, names...)
}

// The records of wrong decisions are looked up, wherever the shards are cut, and scaling does not show.
func TestMistakesAreLookedUp(t *testing.T) {
	queries := squares("abbbaa", 1, 2, 9, 1, 8, 2)
	for _, params := range []string{`{"mode":"classify","k":1}`,
		`{"mode":"classify","k":1,"store_base":true,"features":{"scale":"standard"}}`} {
		for shards := 1; shards <= 4; shards++ {
			r := job{params: params, base: squares("aabb", 0, 1, 9, 10), queries: queries, shards: shards,
				block: 2}.mustRun(t)
			var list []evaluation.Mistake
			if err := json.Unmarshal([]byte(metricOf(t, r, "evaluation.mistakes")), &list); err != nil {
				t.Fatal(err)
			}
			got := map[int64]string{}
			for _, m := range list {
				got[m.ID.Offset] = m.Truth + m.Decided
				if len(m.Picture) != 16 || m.Picture[3] != queries[m.ID.Offset].Dense[3] {
					t.Errorf("picture %v of query %d", m.Picture, m.ID.Offset)
				}
			}
			if len(got) != 3 || got[1] != "ba" || got[3] != "ba" || got[4] != "ab" {
				t.Errorf("%s, %d shards: %v", params, shards, got)
			}
			for name := range r.Model {
				if len(name) > 8 && name[:8] == evaluation.LookUpName {
					t.Errorf("the model holds %q", name)
				}
			}
		}
	}
}

// A set against itself has its own records looked up; without a mistake there is no such round.
func TestMistakesOfTheBase(t *testing.T) {
	j := job{params: `{"mode":"classify","k":1,"leave_one_out":true}`, base: squares("aabba", 0, 1, 9, 10, 11),
		shards: 2}
	var list []evaluation.Mistake
	if err := json.Unmarshal([]byte(metricOf(t, j.mustRun(t), "evaluation.mistakes")), &list); err != nil ||
		len(list) != 1 || list[0].ID.Offset != 4 {
		t.Errorf("%+v, %v", list, err)
	}
	j.base = squares("aabb", 0, 1, 9, 10)
	for _, m := range j.mustRun(t).Metrics {
		if m.Name == "evaluation.mistakes" {
			t.Errorf("%s", m.Value)
		}
	}
}

// A place that no record has is a fault: the data set changed, or the state is not ours.
func TestMistakeBeyondAShard(t *testing.T) {
	spec := job{params: `{"mode":"classify","k":1,"leave_one_out":true}`}.spec()
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	phase := algorithm.Phases()[2]
	placed := evaluation.NewMistakes(1)
	placed.Offer(evaluation.Mistake{ID: evaluation.PlaceOf(0, 9), Truth: "a", Decided: "b"})
	state := jobs.ArraysOf(jobs.FieldsFunc(func(f *jobs.Fields) {
		evaluation.MistakesFields(f, evaluation.LookUpName, &placed)
	}))
	blocks := jobstest.Shards([][]jobstest.Record{squares("ab", 0, 1)}, 2)
	leaf := jobs.Leaf{Read: func(ctx context.Context, _ jobs.Source, shard int) iter.Seq2[*dataset.Block, error] {
		return blocks[shard](ctx)
	}}
	_, _, err = phase.Map(t.Context(), state, leaf, nil, nil)
	var fault *protocol.Fault
	if phase.Name() != evaluation.LookUpName || !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Errorf("%s: %v", phase.Name(), err)
	}
}
