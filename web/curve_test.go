package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// known is a job whose rounds found the metrics of each list, "name value" each.
func known(rounds ...[]string) *shown {
	k := newShown()
	job := &pb.Job{}
	for i, metrics := range rounds {
		number := uint32(i + 1)
		job.Rounds = append(job.Rounds, &pb.RoundRecord{Round: number, Metrics: &pb.ObjectRef{Size: 1}})
		found := &pb.RoundMetrics{Round: number}
		for _, text := range metrics {
			m := &pb.RoundMetric{}
			if _, err := fmt.Sscan(text, &m.Name, &m.Value); err != nil {
				panic(err)
			}
			found.Metrics = append(found.Metrics, m)
		}
		k.found[number] = found
	}
	k.take(job)
	return k
}

// The objective of k-means, by hand: its rounds count in the name, and what is the same in all rounds is no curve.
func TestCurve(t *testing.T) {
	curves := known(nil, []string{"lloyd.001.moved 90", "lloyd.001.distortion 8", "records 5"},
		[]string{"lloyd.002.moved 10", "lloyd.002.distortion 4", "records 5"},
		[]string{"lloyd.003.moved 0", "lloyd.003.distortion 3", "kmeans.rounds 3"}).Curves()
	if len(curves) != 2 || curves[0].Measure != "distortion" || curves[1].Measure != "moved" {
		t.Fatalf("%+v", curves)
	}
	s := curves[0].Series[0]
	if s.Name != "lloyd.distortion" || !slices.Equal(s.Rounds, []uint32{2, 3, 4}) ||
		!slices.Equal(s.Values, []float64{8, 4, 3}) {
		t.Errorf("%+v", s)
	}
	picture := string(curves[0].Picture)
	for _, want := range []string{`points="90,12 395,149.6 700,184"`, ">8</text>", ">3</text>",
		`aria-label="lloyd.distortion from 8 in round 2 to 3 in round 4"`} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %s in\n%s", want, picture)
		}
	}
}

// Where a round found a metric for each of several classes, the number in its name is the class.
func TestCurvesOfClasses(t *testing.T) {
	curves := known([]string{"linear.000.gap 1", "linear.001.gap 2"},
		[]string{"linear.000.gap 0.5", "linear.001.gap 1"}).Curves()
	if len(curves) != 1 || len(curves[0].Series) != 2 || curves[0].Series[1].Name != "linear.001.gap" {
		t.Errorf("%+v", curves)
	}
}

// Names are shown as text, and values that are far apart have a place.
func TestCurveOfOddValues(t *testing.T) {
	curves := known([]string{`<script>.gap -1.7e308`}, []string{`<script>.gap 1.7e308`}).Curves()
	if len(curves) != 1 || strings.Contains(string(curves[0].Picture), "<script>") ||
		strings.Contains(string(curves[0].Picture), "NaN") || strings.Contains(string(curves[0].Picture), "Inf") {
		t.Errorf("%+v", curves)
	}
}

// Rounds that are shown stay shown while their number grows, until there are twice as many.
func TestSpread(t *testing.T) {
	if got := spread(5, 3); !slices.Equal(got, []int{0, 2, 4}) {
		t.Error(got)
	}
	for all := range 300 {
		got := spread(all, 48)
		if len(got) > 49 || all > 0 && (got[0] != 0 || got[len(got)-1] != all-1) || !slices.IsSorted(got) {
			t.Fatalf("%d: %v", all, got)
		}
	}
}

// What was asked for once is not asked for again, unless rounds are made again.
func TestWanted(t *testing.T) {
	k := known([]string{"a 1"}, []string{"a 2"})
	if got := k.wanted(10); len(got) != 0 {
		t.Error(got)
	}
	again := &pb.Job{Rounds: k.Job.GetRounds(), Counters: &pb.Counters{Remade: &pb.Remade{Changes: 1}}}
	if k.take(again); !slices.Equal(k.wanted(10), []uint32{1, 2}) {
		t.Error(k.wanted(10))
	}
	if got := k.wanted(1); !slices.Equal(got, []uint32{1}) {
		t.Error(got)
	}
}

// What a worker says that a round found is drawn in time by its length: once each of N names took all others.
func TestCurveOfVeryManyMetrics(t *testing.T) {
	var found []string
	for i := range 15_000 {
		found = append(found, fmt.Sprintf("a.001.m%d %d", i, i))
	}
	k := known(found, found, append(found, "a.001.m0 9"))
	began := time.Now()
	if curves := k.Curves(); len(curves) != 1 || curves[0].Measure != "m0" {
		t.Errorf("%d curves", len(curves))
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
