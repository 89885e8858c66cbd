package supportvectormachine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// Of wide rows and several classes, rows do not go with candidates: rounds of their own gather them, each record once.
// The model does not depend on how records are cut.
func TestRowsThatAreGathered(t *testing.T) {
	records := groups(90, 800, 3)
	want := ""
	for i, blocks := range []int{1, 3, 8} {
		params := fmt.Sprintf(`{"blocks":%d,"working_set":256}`, blocks)
		m, result := train(t, params, jobstest.Deal(records, i+1)...)
		if m.worst() > 1e-3 || m.relative() > 1e-2 {
			t.Errorf("%d blocks: violation %v, gap %v", blocks, m.worst(), m.relative())
		}
		if gathered := result.Rounds - int(m.rounds); gathered < 2 {
			t.Errorf("%d blocks: %d rounds besides the %d of training", blocks, gathered, m.rounds)
		}
		digest := jobstest.Digest(result.Model)
		if want == "" {
			want = digest
		}
		if digest != want {
			t.Errorf("%d blocks: another model", blocks)
		}
	}
}

func TestTableByHand(t *testing.T) {
	first := table{width: 2, ordinal: []int64{3, 9}, rows: []float32{1, 2, 3, 4}}
	second := table{width: 2, ordinal: []int64{5, 9}, rows: []float32{5, 6, 3, 4}}
	got, others := tableOf(2, map[int64]bool{9: true, 4: true, 5: true, 11: true}, &first, &second)
	if !slices.Equal(got.ordinal, []int64{5, 9}) || !slices.Equal(got.rows, []float32{5, 6, 3, 4}) ||
		!slices.Equal(others, []int64{4, 11}) {
		t.Errorf("%v, without %v", got, others)
	}
	if got.of(9)[0] != 3 || got.of(4) != nil || !ascending(got.ordinal) || ascending([]int64{2, 2}) {
		t.Errorf("%v", got)
	}
}

// A working set waits for the next round where its rows would be too many, but the first is taken however many it has.
func TestMachinesTakeTurns(t *testing.T) {
	m, _ := train(t, `{}`, groups(30, 2, 3))
	s := newTraining(m)
	s.space.Width = machineNumbers / 3
	set := func(ordinals ...int64) (list []candidate) {
		for _, o := range ordinals {
			list = append(list, candidate{Ordinal: o})
		}
		return list
	}
	records := map[int64]bool{}
	if !s.join(0, set(1, 2, 3), records) || s.join(1, set(2, 4), records) || !s.join(2, set(1, 3), records) {
		t.Error("not the sets whose rows are there")
	}
	if s.working.len() != 5 || len(records) != 3 {
		t.Errorf("%d members of %d records", s.working.len(), len(records))
	}
	if s = newTraining(m); !s.join(0, set(1, 2, 3, 4), map[int64]bool{}) {
		t.Error("the first set waits")
	}
}
