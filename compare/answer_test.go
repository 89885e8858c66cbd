package compare

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// metric is a metric whose value is JSON.
func metric(name, value string) jobs.Metric { return jobs.Metric{Name: name, Value: []byte(value)} }

func sideOf(k, model string, found ...jobs.Metric) Side {
	return Side{
		Job: &pb.ComparedJob{Id: "job-" + k, Kind: "KMeans", ResultHash: k, ModelSha256: []byte(model)},
		Spec: []byte(`{"kind":"KMeans","metadata":{"name":"` + k + `"},"spec":{"params":{"k":` + k + `},"run":{"priority":` +
			k + `}}}`), Found: found, Kernels: []string{"avx2"}, Input: "m",
	}
}

// Worked out by hand: one parameter, two metrics, one curve that parts in its second round.
func TestAnswer(t *testing.T) {
	left := sideOf("8", "x", metric("lloyd.001.distortion", "10"), metric("lloyd.002.distortion", "5"),
		metric("evaluation", `{"accuracy":0.5,"labels":[{"f1":1}],"macro":{"f1":0.25}}`),
		metric("kmeans.stop", `"tol"`), metric(jobs.WarningsMetric, `["w"]`))
	right := sideOf("9", "y", metric("lloyd.001.distortion", "10"), metric("lloyd.002.distortion", "4"),
		metric("lloyd.003.distortion", "3"), metric("evaluation", `{"accuracy":0.75,"macro":{"f1":0.25}}`),
		metric("kmeans.stop", `"rounds"`), metric("only", "1"))
	left.Rounds = []Round{{1, "lloyd", [32]byte{1}}, {2, "lloyd", [32]byte{2}}}
	right.Rounds = []Round{{1, "lloyd", [32]byte{1}}, {2, "lloyd", [32]byte{3}}, {3, "lloyd", [32]byte{4}}}
	c, err := Answer(left, right, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "The spec: spec.params.k is 8 on the left, 9 on the right."; c.GetFirst() != want {
		t.Errorf("first: %s", c.GetFirst())
	}
	var paths []string
	for _, f := range c.GetFields() {
		paths = append(paths, f.GetPath())
	}
	if want := []string{"spec.params.k", "metadata.name", "spec.run.priority"}; !slices.Equal(paths, want) {
		t.Errorf("fields %q, want %q", paths, want)
	}
	if c.GetModel() != pb.SameModel_SAME_MODEL_DIFFERENT || c.GetNode() != "round 2 (lloyd) made another state" {
		t.Errorf("%v, %s", c.GetModel(), c.GetNode())
	}
	n := proto.Float64
	want := []*pb.ComparedMetric{
		{Name: "evaluation.accuracy", Left: n(0.5), Right: n(0.75), Difference: n(0.25)},
		{Name: "evaluation.macro.f1", Left: n(0.25), Right: n(0.25), Difference: n(0)},
		{Name: "kmeans.stop", LeftWord: "tol", RightWord: "rounds"},
		{Name: "only", Right: n(1)},
	}
	if !slices.EqualFunc(c.GetMetrics(), want, func(a, b *pb.ComparedMetric) bool { return proto.Equal(a, b) }) {
		t.Errorf("metrics %v", c.GetMetrics())
	}
	curve := &pb.ComparedCurve{Name: "lloyd.distortion", Parts: 2, Points: []*pb.ComparedPoint{
		{Round: 1, Left: n(10), Right: n(10)}, {Round: 2, Left: n(5), Right: n(4)}, {Round: 3, Right: n(3)}}}
	if len(c.GetCurves()) != 1 || !proto.Equal(c.GetCurves()[0], curve) {
		t.Errorf("curves %v", c.GetCurves())
	}
}

// What differs first, in the order in which a result follows from it.
func TestFirst(t *testing.T) {
	of := func(change func(left, right *Side, d *Difference)) string {
		left, right, d := sideOf("8", "x"), sideOf("8", "x"), &Difference{Nodes: Nodes{Says: "round 1: leaf 0"}}
		change(&left, &right, d)
		c, err := Answer(left, right, d)
		if err != nil {
			t.Fatal(err)
		}
		return c.GetFirst()
	}
	type sides = func(left, right *Side, d *Difference)
	for want, change := range map[string]sides{
		"Nothing that a result follows from: the models are the same, byte for byte.": func(_, right *Side,
			d *Difference) {
			right.Spec = []byte(strings.Replace(string(right.Spec), `"priority":8`, `"priority":9`, 1))
			d.Build = []Field{{Path: "go", Left: "1", Right: "2"}}
		},
		"Nothing that a result follows from; not both jobs have made a model.": func(left, _ *Side, _ *Difference) {
			left.Job.ModelSha256 = nil
		},
		"Not what was asked for, but the models: round 1: leaf 0.": func(left, _ *Side, _ *Difference) {
			left.Job.ModelSha256 = []byte("z")
		},
		"The input: input a.csv is 3 bytes, md5:00 on the left, absent on the right; 1 more field of it.": func(
			left, _ *Side, d *Difference) {
			left.Job.ModelSha256 = []byte("z")
			d.Input = []Field{{Path: "input a.csv", Left: "3 bytes, md5:00"}, {Path: "input b.csv", Right: "x"}}
		},
	} {
		if got := of(change); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// A second method: of metrics that are numbers, the rows are the union of the names, and each job's numbers are what it
// found. Turned round, left and right change places.
func TestAnswersTurnedRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(side string) map[string]float64 {
			names := rapid.StringMatching(`[a-c](\.00[1-3])?`)
			return rapid.MapOfN(names, rapid.Float64Range(-3, 3), 0, 6).Draw(t, side)
		}
		a, b := draw("left"), draw("right")
		left, right := sideOf("1", "x"), sideOf("2", "y")
		for _, s := range []struct {
			of   *Side
			with map[string]float64
		}{{&left, a}, {&right, b}} {
			for name, v := range s.with { // in any order
				m, err := jobs.NewMetric(name, v)
				if err != nil {
					t.Fatal(err)
				}
				s.of.Found = append(s.of.Found, m)
			}
		}
		c, err := Answer(left, right, nil)
		if err != nil {
			t.Fatal(err)
		}
		count := len(c.GetMetrics())
		for _, m := range c.GetMetrics() {
			x, inA := a[m.GetName()]
			y, inB := b[m.GetName()]
			if (m.Left != nil) != inA || (m.Right != nil) != inB || m.GetLeft() != x || m.GetRight() != y {
				t.Errorf("%v of %v and %v", m, a, b)
			}
		}
		for _, curve := range c.GetCurves() {
			count += len(curve.GetPoints())
		}
		if want := len(either(a, b)); count != want {
			t.Errorf("%d rows and points of %d names", count, want)
		}
		turned, err := Answer(right, left, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range turned.GetMetrics() {
			if as := c.GetMetrics()[i]; m.GetLeft() != as.GetRight() || m.GetRight() != as.GetLeft() {
				t.Errorf("%v turned round is %v", as, m)
			}
		}
		same, err := Answer(left, left, nil)
		if err != nil || len(same.GetFields()) > 0 || same.GetModel() != pb.SameModel_SAME_MODEL_SAME {
			t.Errorf("a job and itself: %v %v", same, err)
		}
		for _, curve := range same.GetCurves() {
			if curve.GetParts() != 0 {
				t.Errorf("a curve and itself part: %v", curve)
			}
		}
	})
}

// Of more rows than there is room for, the number that is left out is said.
func TestBounds(t *testing.T) {
	var found []jobs.Metric
	for i := range maxMetrics + 7 {
		found = append(found, metric("m"+strings.Repeat("x", i), "1"))
	}
	for i := range maxPoints + 3 {
		found = append(found, jobs.CountMetric(fmt.Sprintf("curve.%03d.a", i), 1))
	}
	found = append(found, metric("word", `"`+strings.Repeat("ä", maxWord)+`"`))
	c, err := Answer(sideOf("1", "x", found...), sideOf("1", "x"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.GetMetrics()) != maxMetrics || c.GetMoreMetrics() != 8 {
		t.Errorf("%d metrics, %d more", len(c.GetMetrics()), c.GetMoreMetrics())
	}
	if curve := c.GetCurves()[0]; len(curve.GetPoints()) != maxPoints || curve.GetMorePoints() != 3 {
		t.Errorf("%d points, %d more", len(curve.GetPoints()), curve.GetMorePoints())
	}
	if got := clip(strings.Repeat("ä", maxWord)); len(got) > maxWord || !strings.HasSuffix(got, "ä…") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// Numbers in names: of rounds, of machines, and those that are neither.
func TestNumbered(t *testing.T) {
	for name, want := range map[string]string{
		"lloyd.003.distortion": "lloyd.distortion 3 rounds", "restart.0.lloyd.012.x": "restart.0.lloyd.x 12 rounds",
		"svm.margin.003.lo": "svm.margin.lo 3 machines", "svm.support.003": "svm.support 3 machines", "kmeans.k": "kmeans.k 0 ",
		"p.12": "p.12 0 ",
	} {
		without, n, of := Numbered(name)
		if got := without + " " + string(jobs.CountMetric("", int64(n)).Value) + " " + of; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Values that break off, and numbers that no float64 is, are left out, and nothing else.
func TestScalarsOfBrokenValues(t *testing.T) {
	var names []string
	Scalars([]jobs.Metric{metric("a", `{"x":1,"y":[`), metric("b", `1e999`), metric("c", `[1,{"d":2}]`),
		metric("d", ``), metric("step.record", `1`), metric("empty", `""`),
		metric("e", `{"f":null,"g":{"h":true}}`)}, func(s Scalar) { names = append(names, s.Name+s.Word) })
	if want := []string{"a.x", "e.g.htrue"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// Names of values in values, and of many in one of a long name, take memory by their length, not by its square.
func TestScalarsOfLongNames(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for what, m := range map[string]jobs.Metric{
		"values in values": metric("a", strings.Repeat(`{"`+long+`":`, 1000)+`1`+strings.Repeat("}", 1000)),
		"a long name":      metric(strings.Repeat("n", 1<<20), `{`+strings.Repeat(`"k":1,`, 1000)+`"k":1}`),
		"a long key":       metric("a", `{"`+strings.Repeat("n", 1<<20)+`":{`+strings.Repeat(`"k":1,`, 1000)+`"k":1}}`),
	} {
		var before, after runtime.MemStats
		visited := 0
		runtime.ReadMemStats(&before)
		Scalars([]jobs.Metric{m, metric("b", `{"c":2}`)}, func(Scalar) { visited++ })
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 || visited != 1 {
			t.Errorf("%s: %d bytes of memory, %d visited", what, took, visited)
		}
	}
}

// So do the figures of an evaluation, which come from a worker's report.
func TestFiguresOfLongNames(t *testing.T) {
	var metrics []jobs.Metric
	var many strings.Builder
	for i := range 500 {
		fmt.Fprintf(&many, `"k%d":1,`, i)
	}
	for i := range 4 {
		metrics = append(metrics, metric("evaluation", `{"accuracy":0.5,"none":"","word":"x","list":[1],"`+
			strings.Repeat(fmt.Sprint(i), 1<<17)+`":{`+many.String()+`"k":1}}`))
	}
	metrics = append(metrics, metric("evaluation.risk", `{"at":{"0.1":2}}`))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found := evaluated(metrics)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%d bytes of memory", took)
	}
	if len(found) != 2 || found["accuracy"] != 0.5 || found["risk.at.0.1"] != 2 {
		t.Errorf("%d figures", len(found))
	}
}

// What differs first counts the fields that the answer has no room for, too.
func TestFirstOfManyFields(t *testing.T) {
	of := func(k string) Side {
		s := sideOf(k, k)
		s.Spec = []byte(`{"spec":{"params":{"centers":[` + strings.Repeat(k+",", 299) + k + `]}}}`)
		return s
	}
	c, err := Answer(of("1"), of("2"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.GetFields()) != maxFields || c.GetMoreFields() != 300-maxFields ||
		!strings.HasSuffix(c.GetFirst(), "; 299 more fields of it.") {
		t.Errorf("%d fields and %d more: %s", len(c.GetFields()), c.GetMoreFields(), c.GetFirst())
	}
}
