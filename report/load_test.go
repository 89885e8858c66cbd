package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// manyRounds is a timeline of four workers with two slots each, of which one fails a task now and then. Rounds take
// from one to two seconds.
func manyRounds(rounds int) *Timeline {
	t := &Timeline{Begins: "2026-11-21T09:00:00.000Z", Works: Works, Outcomes: Outcomes}
	for w := range 4 {
		t.Workers = append(t.Workers, Worker{Name: fmt.Sprint("lab-", w), Kernels: "avx2", Slots: 2})
	}
	at := 0.5
	for r := 1; r <= rounds; r++ {
		end := at + 1 + float64(r%7)/7
		for w := range 4 {
			for slot := range 2 {
				m := Mark{Worker: w, Slot: slot, From: at, To: end - 0.25, Work: WorkMap, Round: uint32(r), Tasks: 2,
					Outcome: Committed}
				if w == 3 && slot == 1 && r%50 == 0 {
					m.Outcome = Failed
				}
				t.Marks = append(t.Marks, m)
			}
		}
		t.Marks = append(t.Marks, Mark{Worker: r % 4, From: end - 0.2, To: end, Work: WorkStep, Round: uint32(r),
			Tasks: 1, Outcome: Committed})
		t.Rounds = append(t.Rounds, Span{Round: uint32(r), From: at, To: end})
		at = end
	}
	return t
}

var labels = regexp.MustCompile(`<text x="([0-9.]+)" y="[0-9.]+" text-anchor="middle" class="faint small">(\d+)</text>`)

// A picture of very many rounds has a bounded size, and numbers that do not lie on one another.
func TestTimelineOfManyRounds(t *testing.T) {
	for _, rounds := range []int{30, 113, 256, 5000} {
		line := manyRounds(rounds)
		picture, caption := string(gantt(line)), line.Caption()
		loads := 9*rounds > maxDetailed
		if n := strings.Count(picture, "<title>"); loads && n != len(line.Workers) || !loads && n != 9*rounds {
			t.Errorf("%d rounds: %d titles", rounds, n)
		}
		if len(picture) > 100<<10 {
			t.Errorf("%d rounds: %d bytes", rounds, len(picture))
		}
		if strings.Contains(caption, "more than 300 marks or 60 rounds") != loads ||
			strings.Contains(caption, "A band is") != (rounds > 30) {
			t.Errorf("%d rounds: %s", rounds, caption)
		}
		found, right := labels.FindAllStringSubmatch(picture, -1), 0.0
		for _, label := range found {
			x, err := strconv.ParseFloat(label[1], 64)
			half := 3.1 * float64(len(label[2]))
			if err != nil || x-half < right {
				t.Errorf("%d rounds: the number %s at %g begins before %g, %v", rounds, label[2], x, right, err)
			}
			right = x + half
		}
		if len(found) < 8 || len(found) > 40 {
			t.Errorf("%d rounds: %d numbers", rounds, len(found))
		}
	}
}

// The columns of a lane hold all of its marks' time, and no more.
func TestLoadsAddUp(t *testing.T) {
	line := manyRounds(113)
	c := layOut(line)
	columns := columnsOf(len(c.lanes))
	for i, l := range c.loadsOf(columns) {
		held, want := 0.0, 0.0
		for part := range parts {
			for b, share := range l.share[part] {
				held += share * c.x.high / float64(columns) * float64(l.slots)
				if share < 0 || share > 1+1e-9 {
					t.Errorf("lane %d, part %d, column %d: %g of the slots", i, part, b, share)
				}
			}
		}
		for _, m := range line.Marks {
			if m.Worker == c.lanes[i].worker {
				want += m.To - m.From
			}
		}
		if math.Abs(held-want) > 1e-6*want {
			t.Errorf("lane %d: the columns hold %g s of %g s", i, held, want)
		}
	}
}

// Bars of one lane, by hand: a worker with two slots, four columns of a second. One slot works for the first half, both
// in the third second; a task that fails at once is seen all the same.
func TestBars(t *testing.T) {
	line := &Timeline{Workers: []Worker{{Name: "w", Slots: 2}}, Marks: []Mark{
		{From: 0, To: 2, Work: WorkMap, Tasks: 1, Outcome: Committed},
		{From: 2, To: 3, Work: WorkMap, Tasks: 1, Outcome: Committed},
		{Slot: 1, From: 2, To: 3, Work: WorkStep, Tasks: 1, Outcome: Committed},
		{From: 3, To: 3.0001, Work: WorkMap, Tasks: 1, Outcome: Failed},
		{From: 3.9, To: 4, Work: Work(99), Tasks: 1, Outcome: Committed}}}
	c := layOut(line)
	l := c.loadsOf(4)[0]
	lane := lane{top: 0, height: 40}
	foot := make([]float64, 4)
	step := px((ganttRight - ganttLeft) / 4)
	if got, want := c.barsOf(l.share[WorkMap], foot, lane, false), "M132 40h612v-20h-612z"; got != want {
		t.Errorf("maps %s, want %s", got, want)
	}
	third := px(ganttLeft + 2*(ganttRight-ganttLeft)/4)
	want := "M" + third + " 20h" + step + "v-20h-" + step + "z"
	if got := c.barsOf(l.share[WorkStep], foot, lane, false); got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
	if got := c.barsOf(l.share[WorkSeveral], foot, lane, false); !strings.Contains(got, "v-2h") {
		t.Errorf("work of a newer release %s", got)
	}
	fourth := px(ganttLeft + 3*(ganttRight-ganttLeft)/4)
	want = "M" + fourth + " 38h" + step + "v-2h-" + step + "z"
	if got := c.barsOf(l.share[partTrouble], foot, lane, true); got != want {
		t.Errorf("trouble %s, want %s", got, want)
	}
	const text = "w: 5 tasks, its slots busy 51 % of the time: map 3 s, step 1 s, several 100 ms, failed or expired 0.1 ms"
	if got := c.loadText(l, 0); got != text {
		t.Errorf("%q, want %q", got, text)
	}
}

// Times are at even distances that people count by, and few.
func TestClockTicks(t *testing.T) {
	for _, c := range []struct {
		end  float64
		want string
	}{
		{0.001, "0 0.0002 0.0004 0.0006 0.0008 0.001"}, {3, "0 0.5 1 1.5 2 2.5 3"}, {8, "0 1 2 3 4 5 6 7 8"},
		{61, "0 10 20 30 40 50 60"}, {125, "0 30 60 90 120"}, {3600, "0 600 1200 1800 2400 3000 3600"},
		{86400, "0 21600 43200 64800 86400"}, {20 * 86400, "0 259200 518400 777600 1.0368e+06 1.296e+06 1.5552e+06"},
	} {
		var words []string
		for _, v := range clockTicks(c.end) {
			words = append(words, fmt.Sprintf("%.6g", v))
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%g s: %s, want %s", c.end, got, c.want)
		}
	}
}

func TestEventsThatAreNearShareASign(t *testing.T) {
	line := manyRounds(2)
	for i := range 40 {
		line.Events = append(line.Events, Event{At: 1 + float64(i)/1e4, What: "lease expired", Worker: "<w>"})
	}
	line.Events = append(line.Events, Event{At: 2.5, What: "worker lost"})
	picture := string(gantt(line))
	if n := strings.Count(picture, "l3.5 7 h-7 z"); n != 2 ||
		!strings.Contains(picture, "&lt;w&gt;; and 35 more</title>") {
		t.Errorf("%d signs in\n%s", n, picture)
	}
}
