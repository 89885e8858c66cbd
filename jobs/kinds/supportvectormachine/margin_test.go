package supportvectormachine

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/margin"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Worked by hand: 1 and 3 of b, -1 and -4 of a: half the distance of the hulls is 1; so it is 10,000 further to the
// right, as the bias is free. With 1 under the label a as well no plane separates, which equal rows prove exactly, nor
// with 2 as well (but no row twice), which is not proved exactly.
func TestMarginByHand(t *testing.T) {
	for _, offset := range []float32{0, 1e4} {
		rows := [][]float32{{1 + offset}, {3 + offset}, {-1 + offset}, {-4 + offset}}
		records := jobstest.DenseRecords(rows, "b", "b", "a", "a")
		m, _ := train(t, `{"kernel":"linear","margin":true,"C":1e6,"tol":1e-9}`, records)
		if g := m.margins[0]; g.Lo > 1 || g.Hi < 1 || g.Hi-g.Lo > 1e-5 {
			t.Errorf("offset %v: %+v", offset, g)
		}
		twice := append(slices.Clone(records), jobstest.Record{Label: "a", Dense: rows[0]})
		m, _ = train(t, `{"kernel":"linear","margin":true}`, twice)
		if text := margin.Text(m.margins[0]); text != "not separable: proved exactly" {
			t.Errorf("offset %v: %s", offset, text)
		}
		mixed := append(slices.Clone(records), jobstest.Record{Label: "a", Dense: []float32{2 + offset}})
		m, _ = train(t, `{"kernel":"linear","margin":true,"C":1e6,"max_rounds":60}`, mixed)
		if g := m.margins[0]; g.Lo != 0 || g.Hi == 0 || g.Hi > 1e-5*float64(1+offset) {
			t.Errorf("offset %v: %+v", offset, g)
		}
	}
}

// lattice has points with whole numbers as coordinates, of two classes.
type lattice struct{ points [2][][2]int64 }

func cross(o, a, b [2]int64) int64 { return (a[0]-o[0])*(b[1]-o[1]) - (a[1]-o[1])*(b[0]-o[0]) }

func sign(v int64) int64 { return int64(big.NewInt(v).Sign()) }

// between reports whether p is on the segment from a to b.
func between(p, a, b [2]int64) bool {
	return cross(a, b, p) == 0 && min(a[0], b[0]) <= p[0] && p[0] <= max(a[0], b[0]) &&
		min(a[1], b[1]) <= p[1] && p[1] <= max(a[1], b[1])
}

// meet reports whether two segments do.
func meet(a, b, c, d [2]int64) bool {
	s := [4]int64{sign(cross(a, b, c)), sign(cross(a, b, d)), sign(cross(c, d, a)), sign(cross(c, d, b))}
	return s[0]*s[1] < 0 && s[2]*s[3] < 0 || between(c, a, b) || between(d, a, b) || between(a, c, d) ||
		between(b, c, d)
}

// inside reports whether p is in the triangle of three points.
func inside(p, a, b, c [2]int64) bool {
	s := [3]int64{sign(cross(a, b, p)), sign(cross(b, c, p)), sign(cross(c, a, p))}
	return cross(a, b, c) != 0 && !(slices.Contains(s[:], 1) && slices.Contains(s[:], -1))
}

// distance is the square of that of p from the segment from a to b.
func distance(p, a, b [2]int64) *big.Rat {
	dx, dy, px, py := b[0]-a[0], b[1]-a[1], p[0]-a[0], p[1]-a[1]
	square, along := dx*dx+dy*dy, px*dx+py*dy
	switch {
	case along <= 0:
		return big.NewRat(px*px+py*py, 1)
	case along >= square:
		return big.NewRat((p[0]-b[0])*(p[0]-b[0])+(p[1]-b[1])*(p[1]-b[1]), 1)
	}
	c := px*dy - py*dx
	return big.NewRat(c*c, square)
}

// margin is the square of the largest margin: a quarter of that of the distance between both hulls, by all their points
// and segments; 0 where they meet.
func (l lattice) margin() *big.Rat {
	var best *big.Rat
	for k, own := range l.points {
		other := l.points[1-k]
		for _, p := range own {
			for _, a := range other {
				for _, b := range other {
					for _, c := range other {
						if inside(p, a, b, c) {
							return new(big.Rat)
						}
					}
					for _, q := range own {
						if meet(p, q, a, b) {
							return new(big.Rat)
						}
					}
					if d := distance(p, a, b); best == nil || d.Cmp(best) < 0 {
						best = d
					}
				}
			}
		}
	}
	return best.Mul(best, big.NewRat(1, 4))
}

func drawLattice(r *rand.Rand, n int) (l lattice) {
	shift, apart := int64(r.IntN(2))*2000, int64(r.IntN(20))
	for i := range n {
		k := i % 2
		x, y := shift+int64(r.IntN(17))+int64(k)*apart, shift+int64(r.IntN(17))
		l.points[k] = append(l.points[k], [2]int64{x, y})
	}
	if r.IntN(5) == 0 {
		l.points[0] = append(l.points[0], l.points[1][r.IntN(len(l.points[1]))])
	}
	return l
}

func (l lattice) records() (list []jobstest.Record) {
	for k, label := range []string{"a", "b"} {
		for _, p := range l.points[k] {
			list = append(list, jobstest.Record{Label: label, Dense: []float32{float32(p[0]), float32(p[1])}})
		}
	}
	return list
}

func square(v float64) *big.Rat { x := new(big.Rat).SetFloat64(v); return x.Mul(x, x) }

// In random small problems, separable or not, trained to the end or not, the largest margin is within the bounds. It is
// known without rounding, by brute force.
func TestMarginIsWithinItsBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 1))
	separable, exact := 0, 0
	for n := range 120 {
		l := drawLattice(r, 2+r.IntN(11))
		want := l.margin()
		params := fmt.Sprintf(`{"kernel":"linear","margin":true,"C":%g,"tol":%g,"max_rounds":%d}`,
			[]float64{1e-3, 1, 1e6}[r.IntN(3)], []float64{1e-3, 1e-8}[r.IntN(2)], []int{1, 25}[r.IntN(2)])
		m, _ := train(t, params, l.records())
		g := m.margins[0]
		if square(g.Lo).Cmp(want) > 0 || square(g.Hi).Cmp(want) < 0 {
			t.Fatalf("problem %d, %s: %+v, but the square is %s, of %v", n, params, g, want.FloatString(20), l.points)
		}
		if g.Separates() {
			separable++
		} else if g.Hi == 0 {
			exact++
		}
	}
	if separable < 30 || exact < 10 {
		t.Errorf("%d problems are proved to be separable, %d not to be", separable, exact)
	}
}

// Of classes that a plane separates, hinge with a large C finds the largest margin, proved to 1e-4; in the space of
// every kernel. With a copy of one record under the other label the margin is 0.
func TestLargestMargin(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 29))
	for n, kernel := range []string{`"linear"`, `"linear","C":1e9`, `"rbf","gamma":0.5`, `"polynomial"`} {
		records := groups(40+r.IntN(20), 3, 2)
		for i := range records {
			records[i].Dense[0] += float32(7 * (i % 2))
		}
		params := `{"kernel":` + kernel + `,"margin":true,"tol":1e-7,"features":{"scale":"standard"}}`
		if !strings.Contains(kernel, `"C"`) {
			params = strings.Replace(params, `"tol"`, `"C":1e6,"tol"`, 1)
		}
		m, _ := train(t, params, records)
		if g := m.margins[0]; !(g.Hi/g.Lo-1 <= 1e-4) {
			t.Errorf("%d, %s: %+v after %d rounds, violation %v", n, params, g, m.rounds, m.violation)
		}
		copied := records[r.IntN(len(records))]
		copied.Label = map[string]string{"a": "b", "b": "a"}[copied.Label]
		m, _ = train(t, strings.Replace(params, `"margin"`, `"max_rounds":20,"margin"`, 1), append(records, copied))
		if g := m.margins[0]; g.Lo != 0 || g.Hi != 0 {
			t.Errorf("%d, %s: %+v of a record under both labels", n, params, g)
		}
	}
}

// The report has the bounds of every job of classes with a kernel that has a space, the model those of one that asks.
func TestMarginFacts(t *testing.T) {
	records := groups(60, 3, 3)
	for _, c := range []struct {
		params            string
		reported, inModel bool
	}{
		{`{}`, true, false}, {`{"margin":true}`, true, true}, {`{"kernel":"sigmoid"}`, false, false},
		{`{"kernel":"polynomial","offset":-1,"degree":3}`, false, false},
	} {
		m, result := train(t, c.params, records)
		hi := -1.0
		if err := jobs.ReadMetric(result.Metrics, "svm.margin.002.hi", &hi); err != nil {
			t.Fatal(err)
		}
		text, err := Kind().Describe(result.Model, jobs.DescribeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		figures, err := Kind().Figures(result.Model, result.Metrics)
		if err != nil {
			t.Fatal(err)
		}
		shown := slices.ContainsFunc(figures, func(f jobs.Figure) bool { return f.Title == "Largest margin" })
		if (hi > 0) != c.reported || (m.margins != nil) != c.inModel || shown != c.inModel ||
			strings.Contains(text, "whose bias is free") != c.inModel {
			t.Errorf("%s: %v in the report, %v in the model\n%s", c.params, hi, m.margins, text)
		}
	}
	for params, says := range map[string]string{
		`{"margin":true,"kernel":"sigmoid"}`:                  "may not be positive semidefinite",
		`{"margin":true,"kernel":"polynomial","scale":-1}`:    "may not be positive semidefinite",
		`{"margin":true,"mode":"regress"}`:                    "mode regress",
		`{"support_vectors":true,"mode":"regress"}`:           "mode regress",
		`{"margin":true,"kernel":"polynomial","degree":1000}`: "degree",
	} {
		_, err := New(specOf(params))
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", params, err)
		}
	}
}

// The bounds depend neither on blocks nor on shards or kernel sets; arrays that no training writes are faults.
func TestMarginOfAnyBlocks(t *testing.T) {
	records := groups(90, 3, 3)
	want := ""
	for i, set := range kernelops.All() {
		result, err := tryRun(t, fmt.Sprintf(`{"margin":true,"blocks":%d}`, 1+2*i), jobstest.Deal(records, i+1), set)
		if err != nil {
			t.Fatal(err)
		}
		digest := jobstest.Digest(result.Model)
		if want == "" {
			want = digest
		}
		if digest != want {
			t.Errorf("%s: another model", set.Name)
		}
	}
	_, result := train(t, `{"margin":true}`, records)
	for _, list := range [][]float64{{1, 0.5, 0, 1, 0, 1}, {math.NaN(), 1, 0, 1, 0, 1}, {1, 2}} {
		jobs.Put(result.Model, "training.margin", list, len(list)/2, 2)
		var fault *protocol.Fault
		if _, err := readModel(result.Model); !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%v: %v", list, err)
		}
	}
	if _, err := newMarginTally(2).plus(nil); err == nil {
		t.Error("a tally with margins was joined with one that has none")
	}
}

// Rows of -0 and 0 are equal, and others are not, whatever their hash.
func TestEqualRows(t *testing.T) {
	x, y := []float32{0, 1}, []float32{float32(math.Copysign(0, -1)), 1}
	if hashOf(x) != hashOf(y) || !equalRows(x, y) || equalRows(x, []float32{1, 0}) {
		t.Error(hashOf(x), hashOf(y))
	}
}
