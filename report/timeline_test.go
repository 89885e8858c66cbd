package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// course is a timeline of four workers and six rounds, with all that can happen.
func course() *Timeline {
	t := &Timeline{Begins: "2026-11-21T09:00:00.000Z", Works: Works, Outcomes: Outcomes, Grain: 0.016}
	for i := range 4 {
		t.Workers = append(t.Workers, Worker{Name: fmt.Sprintf("lab-%d", i/2), Kernels: "avx2"})
	}
	t.Workers[3].Name = "a-worker-with-a-long-name.<example>"
	t.Marks = append(t.Marks, Mark{From: 0.1, To: 0.6, Work: WorkPlan, Tasks: 1, Outcome: Committed})
	at := 0.7
	for round := uint32(1); round <= 6; round++ {
		end := at + 2.2 + 0.3*float64(round%3)
		for w := range 4 {
			for slot := range 2 {
				for i := range 3 {
					from := at + 0.6*float64(i) + 0.05*float64(w+slot)
					t.Marks = append(t.Marks, Mark{Worker: w, Slot: slot, From: from, To: from + 0.55, Work: WorkMap,
						Round: round, Tasks: 1 + i, Outcome: Committed})
				}
			}
		}
		t.Marks = append(t.Marks, Mark{Worker: int(round) % 3, From: end - 0.28, To: end - 0.12, Work: WorkMerge,
			Round: round, Tasks: 1, Outcome: Committed},
			Mark{Worker: 1, From: end - 0.11, To: end - 0.01, Work: WorkStep, Round: round, Tasks: 1,
				Outcome: Committed})
		t.Rounds = append(t.Rounds, Span{Round: round, From: at, To: end})
		at = end + 0.02
	}
	t.Marks = append(t.Marks, Mark{Worker: 2, Slot: 2, From: 7, To: 7.8, Work: WorkMap, Round: 3, Tasks: 1,
		Outcome: Failed},
		Mark{Worker: 3, Slot: 2, From: 10, To: 12.5, Work: WorkMap, Round: 4, Tasks: 1, Outcome: Expired},
		Mark{Worker: 0, Slot: 2, From: 11, To: 12.2, Work: WorkMap, Round: 4, Tasks: 1, Outcome: Committed,
			Speculative: true},
		Mark{Worker: 1, Slot: 2, From: 11, To: 12.2, Work: WorkMap, Round: 4, Tasks: 1, Outcome: InVain})
	t.Events = []Event{{7.8, "task failed", "lab-1", "round 3, tree 0, node 0/5"},
		{11, "speculative copy launched", "lab-0", "round 4, tree 0, node 0/7"},
		{12.2, "speculative copy won", "lab-0", "round 4, tree 0, node 0/7"},
		{12.5, "worker lost", "a-worker-with-a-long-name.<example>", "round 4, tree 0, node 0/7"}}
	return t
}

func TestTimelineShowsEveryMark(t *testing.T) {
	c := course()
	picture := string(gantt(c))
	if n := strings.Count(picture, "<title>"); n != len(c.Marks)+len(c.Events) {
		t.Errorf("%d titles for %d marks and %d events", n, len(c.Marks), len(c.Events))
	}
	for _, want := range []string{
		">lab-0 #1<", ">lab-0 #2<", ">lab-1<", ">a-worker-with-a…<", "lab-0: 3 tasks: map, round 1, ", "failed",
		"speculative copy: map, round 4", "in vain",
		"12.5 s, worker lost, a-worker-with-a-long-name.&lt;example&gt;",
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
}

// More workers and slots than can be drawn leave a picture of bounded size.
func TestTimelineOfManyWorkers(t *testing.T) {
	c := &Timeline{Since: 3}
	for w := range 300 {
		c.Workers = append(c.Workers, Worker{Name: fmt.Sprint("w", w)})
		for slot := range 6 {
			c.Marks = append(c.Marks, Mark{Worker: w, Slot: slot, From: 3 + float64(slot), To: 5 + float64(slot),
				Work: WorkMap, Round: 1, Tasks: 1, Outcome: Committed})
		}
	}
	c.Marks = append(c.Marks, Mark{Worker: 299, Slot: 0, From: 12, To: 40, Work: WorkStep, Round: 1, Tasks: 1,
		Outcome: Committed})
	picture := string(gantt(c))
	if n := strings.Count(picture, `class="ink"`); n != maxDrawn {
		t.Errorf("%d lanes, want %d", n, maxDrawn)
	}
	if !strings.Contains(picture, ">w299<") || !strings.Contains(picture, "252 workers with less to do") ||
		!strings.Contains(picture, "seen by another coordinator") {
		t.Error("the worker most at work is not drawn, or the time of another coordinator not hatched")
	}
}

func TestTimelineInJSONIsShort(t *testing.T) {
	text, err := json.Marshal(course().Marks[:1])
	if err != nil || string(text) != "[[0,0,0.1,0.6,1,0,1,1,0]]" {
		t.Errorf("%s, %v", text, err)
	}
}

func TestEmptyTimeline(t *testing.T) {
	if picture := gantt(&Timeline{}); !bytes.Contains(picture, []byte("</svg>")) {
		t.Errorf("%s", picture)
	}
}

func TestMarksAreReadAsTheyWereWritten(t *testing.T) {
	want := Mark{Worker: 1, Slot: 2, From: 0.5, To: 1.25, Work: WorkMap, Round: 3, Tasks: 4,
		Outcome: InVain, Speculative: true}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Mark
	if err := json.Unmarshal(data, &got); err != nil || got != want {
		t.Errorf("%s became %+v, %v", data, got, err)
	}
	for _, text := range []string{`[1]`, `{}`, `[0,0,0,1,2,1,1,1,0,9]`, `[0.5,0,0,1,2,1,1,1,0]`, `[0,0,"x",1,2,1,1,1,0]`,
		`[0,0,0,1,2,-1,1,1,0]`} {
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

// What was forecast stands beside what came.
func TestForecastText(t *testing.T) {
	if text := (*Timeline)(nil).ForecastText() + (&Timeline{}).ForecastText(); text != "" {
		t.Errorf("without forecasts: %q", text)
	}
	line := &Timeline{Forecasts: []Forecast{{Round: 1, At: 2, P50: 12, P90: 22, Ended: 15}}}
	const one = "round 1, when a quarter was done: 10 s (p50) or 20 s (p90) more; it took 13 s"
	if text := line.ForecastText(); text != one {
		t.Errorf("of one round: %q", text)
	}
	line.Forecasts = append(line.Forecasts, Forecast{Round: 2, At: 20, P50: 30, P90: 31, Ended: 30},
		Forecast{Round: 3, At: 40, P50: 50, P90: 60, Ended: 70})
	const three = "of 3 rounds, 1 ended by their p50 and 2 by their p90; round 3,"
	if text := line.ForecastText(); !strings.HasPrefix(text, three) {
		t.Errorf("of three: %q", text)
	}
}
