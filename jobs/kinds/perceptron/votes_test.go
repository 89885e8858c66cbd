package perceptron

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Of the vectors of TestVotesByHand, (1, 0, 1) and (1, -2, 0) with a vote each, the later one is kept beside the last.
func TestVotesDroppedByHand(t *testing.T) {
	result := train(t, `{"shuffle": false, "form": "voted", "max_vectors": 1}`, three[:2], three[2:])
	m := modelOf(t, result)
	if !slices.Equal(m.vectors, []float32{1, -2, 0}) || !slices.Equal(m.survived, []int64{1, 4}) ||
		m.dropped != (dropped{1, 1}) {
		t.Errorf("vectors %v survived %v, dropped %v", m.vectors, m.survived, m.dropped)
	}
	text, err := Kind().Describe(result.Model, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text, "vectors      2; 1 more, with 16.7 % of the votes, were dropped") {
		t.Errorf("%v\n%s", err, text)
	}
	var gone int
	if !metric(t, result, "perceptron.vectors_dropped", &gone) || gone != 1 {
		t.Errorf("vectors dropped: %d", gone)
	}
}

// With any bound, and shards of any size, the vectors that vote are the first of all by votes, of equals the later;
// what was learned is the same, and every vote is counted as kept or as dropped.
func TestVotesKeptAreTheMost(t *testing.T) {
	records := digits(t)[:400]
	for _, form := range []string{"voted", "unweighted"} {
		params := func(most int) string {
			return fmt.Sprintf(`{"form": %q, "shuffle": false, "epochs": 3, "max_vectors": %d}`, form, most)
		}
		all := modelOf(t, train(t, params(100_000), records))
		for _, most := range []int{1, 2, 7, 60, all.votes() - 1, all.votes()} {
			want := kept(all, most)
			for _, cuts := range [][]int{{400}, {1, 200, 400}, {50, 100, 150, 399, 400}} {
				var shards [][]jobstest.Record
				for from, i := 0, 0; i < len(cuts); from, i = cuts[i], i+1 {
					shards = append(shards, records[from:cuts[i]])
				}
				m := modelOf(t, train(t, params(most), shards...))
				if !slices.Equal(m.weights, all.weights) || !slices.Equal(m.vectors, want.vectors) ||
					!slices.Equal(m.survived, want.survived) {
					t.Errorf("%s, %d of %d vectors, shards to %v: %d vectors of votes %v, want %v", form, most,
						all.votes(), cuts, m.votes(), m.survived, want.survived)
				}
				if m.dropped != want.dropped {
					t.Errorf("%s, %d of %d vectors, shards to %v: dropped %v, want %v", form, most, all.votes(), cuts,
						m.dropped, want.dropped)
				}
			}
		}
	}
}

// kept sorts all vectors of a model, and leaves the first.
func kept(m *model, most int) *Learner {
	var order []int
	for k := range m.votes() {
		order = append(order, k)
	}
	slices.SortFunc(order, func(i, j int) int {
		if m.Form == Unweighted {
			return j - i
		}
		return cmp.Or(cmp.Compare(m.survived[j], m.survived[i]), j-i)
	})
	l := &Learner{Setup: m.Setup}
	for _, k := range order[most:] {
		l.dropped.vectors++
		l.dropped.votes += m.voice(k)
	}
	order = order[:most]
	slices.Sort(order)
	for _, k := range order {
		l.vectors, l.survived = append(l.vectors, m.vectors[k*m.size():(k+1)*m.size()]...),
			append(l.survived, m.survived[k])
	}
	l.survived = append(l.survived, m.survived[m.votes()])
	return l
}

// Many more mistakes than max_vectors, or than a state has room for, are no fault: what is kept is bounded by
// arithmetic before the first epoch.
func TestVotesNeverFailLate(t *testing.T) {
	records := digits(t)[:300]
	for _, state := range []protocol.ByteSize{1 << 15, 1 << 16, 1 << 18} {
		spec := specOf(`{"form": "voted", "epochs": 4}`)
		spec.Spec.Run.MaxStateBytes = state
		result, err := tryRun(t, spec, jobstest.Deal(records, 3), kernelops.Best())
		if err != nil {
			t.Fatalf("max_state_bytes %d: %v", state, err)
		}
		m := modelOf(t, result)
		each := int64(4*m.size() + 8)
		if size := result.Model.EncodedSize(); size > int64(state) || int64(state)-size > 6000+each ||
			m.dropped.vectors == 0 {
			t.Errorf("max_state_bytes %d: a model of %d bytes, %d vectors, %d dropped", state, size, m.votes(),
				m.dropped.vectors)
		}
	}
}

// What has no room for a vector is refused before the first epoch, and at once where the spec tells enough.
func TestVotesWithoutRoom(t *testing.T) {
	spec := specOf(`{"form": "voted"}`)
	spec.Spec.Run.MaxStateBytes = 8 << 10
	_, err := tryRun(t, spec, jobstest.Deal(digits(t)[:300], 2), kernelops.Best())
	wantFault(t, err, protocol.CodeStateTooBig, "no room for one")
	for params, want := range map[string]bool{
		`{"features": {"hashing": {"bits": 20}}, "form": "voted"}`:    false, // two vectors of 2^20
		`{"features": {"hashing": {"bits": 20}}, "form": "averaged"}`: false, // and sums of float64
		`{"features": {"hashing": {"bits": 20}}, "form": "plain"}`:    true,
		`{"features": {"hashing": {"bits": 18}}, "form": "voted"}`:    true,
	} {
		spec := specOf(params)
		spec.Spec.Run.MaxStateBytes = 4<<20 + 4
		if _, err := New(spec); want {
			if err != nil {
				t.Errorf("%s: %v", params, err)
			}
		} else {
			wantFault(t, err, protocol.CodeSpecInvalid, "max_state_bytes")
		}
	}
}

// A model with more vectors than this job may keep begins with those of the most votes.
func TestVotesOfAModelToGoOnWith(t *testing.T) {
	records := digits(t)[:300]
	first := train(t, `{"form": "voted", "epochs": 2}`, records)
	spec := specOf(`{"form": "voted", "epochs": 1, "max_vectors": 9}`)
	spec.Spec.Model = "file:///m/model.safetensors"
	result, err := tryRun(t, spec, [][]jobstest.Record{records}, kernelops.Best(), jobstest.WithModel(first.Model))
	if err != nil {
		t.Fatal(err)
	}
	if m, before := modelOf(t, result), modelOf(t, first); m.votes() != 9 ||
		m.dropped.vectors < int64(before.votes()-9) {
		t.Errorf("%d vectors, %d dropped, of %d", m.votes(), m.dropped.vectors, before.votes())
	}
}

// Learning record by record keeps no more than max_vectors either, and the model can be read.
func TestVotesOnline(t *testing.T) {
	o, err := Load(train(t, `{"form": "voted", "epochs": 1, "max_vectors": 5}`, digits(t)[:100]).Model,
		kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	before := o.dropped
	for _, r := range digits(t)[100:300] {
		if _, err := o.PredictVector(r.Dense); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Update(r.Label); err != nil {
			t.Fatal(err)
		}
		if o.votes() > 5 {
			t.Fatalf("%d vectors", o.votes())
		}
	}
	if o.dropped.vectors <= before.vectors {
		t.Error("nothing was dropped")
	}
	if _, err := Load(o.Model(), kernelops.Best()); err != nil {
		t.Error(err)
	}
}
