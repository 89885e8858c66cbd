package kmeans

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// Records 0 and 2 of a line, centers at 0 and 1, stiffness ln 2: the terms of record 0 are 1 and 1/2, those of 2 are
// 1/16 and 1/2. So record 0 has responsibilities 2/3 and 1/3, record 2 has 1/9 and 8/9.
//
//	center 0  (2 * 1/9) / (2/3 + 1/9) = 2/7     center 1  (2 * 8/9) / (1/3 + 8/9) = 16/11
//	F = -(log(3/4) + log(9/32)) / (2 ln 2)
func TestSoftByHand(t *testing.T) {
	params := fmt.Sprintf(`{"algorithm": "soft", "stiffness": %v, "init": "given", "centers": [[0], [1]],
		"max_rounds": 1, "responsibilities": true}`, math.Ln2)
	for _, set := range kernelops.All() {
		result, err := tryRun(t, params, rowsOf([]float32{0}, []float32{2}), set)
		if err != nil {
			t.Fatal(err)
		}
		m := modelOf(t, result)
		near(t, "center 0", m.centers[0], 2.0/7, 1e-14)
		near(t, "center 1", m.centers[1], 16.0/11, 1e-14)
		energies := numbers(t, result, "soft.001.free_energy")
		near(t, "free energy", energies[0], -(math.Log(3.0/4)+math.Log(9.0/32))/(2*math.Ln2), 1e-14)
		if m.stop != stopRounds || m.stiffness != math.Ln2 || m.freeEnergy >= energies[0] {
			t.Errorf("stop %s, stiffness %v, free energy %v after %v", m.stop, m.stiffness, m.freeEnergy, energies[0])
		}
		for i, row := range joinedRows(t, result, responsibilitiesFolder) {
			x := float64(2 * i)
			a := math.Exp(-math.Ln2 * (x - m.centers[0]) * (x - m.centers[0]))
			b := math.Exp(-math.Ln2 * (x - m.centers[1]) * (x - m.centers[1]))
			near(t, "responsibility 0", number(t, row[2]), a/(a+b), 1e-13)
			near(t, "responsibility 1", number(t, row[3]), b/(a+b), 1e-13)
		}
	}
}

// A responsibility at 2^-24 stays, one below it is 0, and the others add up to 1.
func TestLeastShareByHand(t *testing.T) {
	for _, c := range []struct {
		sqDist []float64
		want   []float64
	}{
		{[]float64{3}, []float64{1}},
		{[]float64{3, 3}, []float64{0.5, 0.5}},
		{[]float64{0, 24 * math.Ln2}, []float64{1, 0}}, // 2^-24 of 1 + 2^-24
		{[]float64{0, 23 * math.Ln2}, []float64{1 / (1 + 0x1p-23), 0x1p-23 / (1 + 0x1p-23)}},
		{[]float64{5, 5, 5 + 23.9*math.Ln2}, []float64{0.5, 0.5, 0}}, // above 2^-24 of a term, below it of the sum
		{[]float64{0, 1e300, 900}, []float64{1, 0, 0}},
	} {
		shares := make([]float64, len(c.sqDist))
		share(shares, c.sqDist, slices.Min(c.sqDist), 1)
		for i, want := range c.want {
			if math.Abs(shares[i]-want) > 1e-14 || want == 0 && shares[i] != 0 {
				t.Errorf("%v: %v, not %v", c.sqDist, shares, c.want)
			}
		}
	}
}

// plainSoft is soft k-means in float64, straight from the formulas: free energies, centers, and responsibilities of the
// last centers.
func plainSoft(rows []jobstest.Record, centers [][]float64, stiffness float64, rounds int) (energies []float64,
	shares [][]float64) {
	k := len(centers)
	for round := range rounds + 1 {
		energy, weights, sums := 0.0, make([]float64, k), make([][]float64, k)
		shares = nil
		for _, r := range rows {
			w := float64(r.Weight)
			if w == 0 {
				w = 1
			}
			terms, all, least := make([]float64, k), 0.0, math.Inf(1)
			for j, c := range centers {
				terms[j] = plainDistance(r.Dense, c)
				least = min(least, terms[j])
			}
			for j, d := range terms {
				terms[j] = math.Exp(-stiffness * (d - least))
				all += terms[j]
			}
			kept := 0.0
			for j := range terms {
				if terms[j] < 0x1p-24*all {
					terms[j] = 0
				}
				kept += terms[j]
			}
			energy += w * (least - math.Log(kept/float64(k))/stiffness) / 2
			for j := range terms {
				terms[j] /= kept
				if sums[j] == nil {
					sums[j] = make([]float64, len(r.Dense))
				}
				weights[j] += w * terms[j]
				for d, v := range r.Dense {
					sums[j][d] += w * terms[j] * float64(v)
				}
			}
			shares = append(shares, terms)
		}
		energies = append(energies, energy)
		for j, c := range centers {
			for d := range c {
				if round < rounds && weights[j] > 0 {
					c[d] = sums[j][d] / weights[j]
				}
			}
		}
	}
	return energies, shares
}

// The same centers lead the same way as the formulas: free energies, centers and responsibilities to 1e-9, also far
// from zero and with columns of other scales.
func TestSoftAgainstFloat64(t *testing.T) {
	iris, _ := table(t, "iris.csv", 1)
	digits, _ := table(t, "digits.csv.gz", 0)
	far := jobstest.DenseRecords(fourGroups(300))
	scales := blobs(200, 3, 4, 3)
	for i := range scales {
		scales[i].Dense[1] *= 1000
		scales[i].Weight = float32(1+i%4) / 2
	}
	for _, c := range []struct {
		name      string
		records   []jobstest.Record
		k, rounds int
		stiffness float64
	}{
		{"iris", jobstest.DenseRecords(iris), 3, 20, 1}, {"iris, soft", jobstest.DenseRecords(iris), 5, 10, 0.01},
		{"digits", jobstest.DenseRecords(digits), 10, 8, 0.005},
		{"far", far, 4, 15, 20}, {"scales", scales, 6, 15, 1e-5},
		{"hard", jobstest.DenseRecords(iris), 4, 10, 1e4},
	} {
		centers := make([][]float64, c.k)
		for j := range centers {
			centers[j] = wide(c.records[j*len(c.records)/c.k].Dense)
			for d := range centers[j] {
				centers[j][d] += 0.01 * offGrid.Float64(uint64(j), uint64(d))
			}
		}
		given, err := json.Marshal(centers)
		if err != nil {
			t.Fatal(err)
		}
		result := train(t, fmt.Sprintf(`{"algorithm": "soft", "stiffness": %v, "init": "given", "centers": %s,
			"max_rounds": %d, "empty": "keep", "responsibilities": true}`, c.stiffness, given, c.rounds),
			jobstest.Deal(c.records, 3)...)
		checkSoft(t, c.name, result, c.records, centers, c.stiffness)
	}
}

func checkSoft(t *testing.T, name string, result jobstest.Result, records []jobstest.Record, centers [][]float64,
	stiffness float64) {
	t.Helper()
	m := modelOf(t, result)
	energies := append(numbers(t, result, ".free_energy"), 0)
	want, shares := plainSoft(records, centers, stiffness, int(m.rounds))
	energies = append(energies[:len(want)-1], m.freeEnergy)
	for i, f := range want {
		near(t, fmt.Sprintf("%s: free energy %d", name, i), energies[i], f, 1e-9)
	}
	order := make([]int, len(centers))
	for j := range order {
		order[j] = j
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(centers[a], centers[b]) })
	for j, from := range order {
		scale := 0.0
		for _, v := range centers[from] {
			scale = max(scale, math.Abs(v))
		}
		for d, v := range m.center(j) {
			if !(math.Abs(v-centers[from][d]) <= 1e-9*scale) {
				t.Errorf("%s: center %d is %v, not %v", name, j, m.center(j), centers[from])
			}
		}
	}
	worst := 0.0
	for i, row := range joinedRows(t, result, responsibilitiesFolder) {
		sum := 0.0
		for j, from := range order {
			got := number(t, row[len(row)-len(order)+j])
			worst, sum = max(worst, math.Abs(got-shares[i][from])), sum+got
		}
		near(t, name+": sum of responsibilities", sum, 1, 1e-14)
	}
	if worst > 1e-9 {
		t.Errorf("%s: a responsibility is off by %v", name, worst)
	}
}

// The free energy falls: not by exactly what is dropped below 2^-24, which is far below the slack.
func TestFreeEnergyNeverRises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(4, 40).Draw(rt, "n")
		values := rapid.SliceOfN(rapid.Float32Range(-4, 4), 2*n, 2*n).Draw(rt, "values")
		rows := make([][]float32, n)
		for i := range rows {
			rows[i] = values[2*i : 2*i+2]
		}
		params := fmt.Sprintf(`{"algorithm": "soft", "stiffness": %v, "k": %d, "init": "random", "metric": %q,
			"max_rounds": 30, "empty": "keep"}`, rapid.Float64Range(0.01, 30).Draw(rt, "stiffness"),
			rapid.IntRange(1, 4).Draw(rt, "k"),
			rapid.SampledFrom([]string{metricEuclidean, metricCosine}).Draw(rt, "metric"))
		result, err := tryRun(t, params, jobstest.Deal(jobstest.DenseRecords(rows), 3), kernelops.Best())
		if err != nil {
			if strings.Contains(err.Error(), "can be drawn") {
				return // rows of zeros under cosine
			}
			rt.Fatal(err)
		}
		before := math.Inf(1)
		for i, f := range numbers(rt, result, ".free_energy") {
			if f > before+1e-6*(1+before) {
				rt.Fatalf("the free energy rises from %v to %v with round %d", before, f, i+1)
			}
			before = f
		}
	})
}

// A great stiffness gives the centers of Lloyd's algorithm, to the bit.
func TestStiffIsHard(t *testing.T) {
	records := blobs(120, 5, 4, 3)
	const given = `"init": "given", "centers": [[0,0,0,0,0], [5,5,5,5,5], [9,0,0,9,9], [4,9,1,1,1]]`
	hard := modelOf(t, train(t, `{`+given+`}`, jobstest.Deal(records, 3)...))
	soft := modelOf(t, train(t, `{"algorithm": "soft", "stiffness": 1e9, `+given+`}`, jobstest.Deal(records, 3)...))
	if !slices.Equal(hard.centers, soft.centers) || soft.stop != stopUnchanged ||
		math.Abs(soft.freeEnergy-soft.distortion()) > 1e-6 {
		t.Errorf("centers %v and %v, stop %s, free energy %v, J %v", hard.centers, soft.centers, soft.stop,
			soft.freeEnergy, soft.distortion())
	}
}

func TestSoftGroupingAndSets(t *testing.T) {
	records := blobs(60, 3, 4, 8)
	for i := range records {
		records[i].Weight = float32(1+i%3) / 2
	}
	for _, params := range []string{
		`{"algorithm": "soft", "stiffness": 0.3, "k": 5, "restarts": 2, "max_rounds": 6, "responsibilities": true,
			"distances": true, "indices": true}`,
		`{"algorithm": "soft", "stiffness": 3, "metric": "cosine", "k": 3, "max_rounds": 5}`,
		`{"algorithm": "soft", "stiffness": 5, "init": "given", "centers": [[0, 0, 0], [900, 0, 0], [0, 900, 0]]}`,
	} {
		spec := specOf(params)
		jobstest.CheckGrouping(t, algorithmOf(t, spec), spec, jobstest.Deal(records, 6), kernelops.Best())
		digests := map[string]bool{}
		for _, ops := range kernelops.All() {
			for _, shards := range []int{1, 4} {
				result, err := tryRun(t, params, jobstest.Deal(records, shards), ops)
				if err != nil {
					t.Fatal(err)
				}
				digests[jobstest.Digest(result.Model)] = true
			}
		}
		if len(digests) != 1 {
			t.Errorf("%s: %d digests", params, len(digests))
		}
	}
}

// Products of weights and values beyond float32 count too.
func TestSoftBeyondFloat32(t *testing.T) {
	records := jobstest.DenseRecords([][]float32{{3e38}, {2e38}, {-1e38}})
	for i := range records {
		records[i].Weight = 1e6
	}
	m := modelOf(t, train(t, `{"algorithm": "soft", "stiffness": 1e-30, "k": 1}`, records))
	near(t, "center", m.centers[0], (float64(float32(3e38))+float64(float32(2e38))-float64(float32(1e38)))/3, 1e-14)
}

func TestSoftPredicts(t *testing.T) {
	model := train(t, `{"algorithm": "soft", "stiffness": 0.5, "k": 2, "init": "given", "centers": [[0], [6]]}`, line)
	p, err := NewPredictor(model.Model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := p.Predict(t.Context(), &dataset.Block{IDs: []dataset.Identity{dataset.ByRow(0)},
		Dense: dataset.Dense{Width: 1, Values: []float32{3}}})
	if err != nil || !slices.Equal(p.Answers().Scores, []string{"0", "1"}) {
		t.Fatal(p.Answers(), err)
	}
	m := modelOf(t, model)
	a, b := math.Exp(-0.5*math.Pow(3-m.centers[0], 2)), math.Exp(-0.5*math.Pow(3-m.centers[1], 2))
	near(t, "responsibility", outcomes[0].Scores[0], a/(a+b), 1e-13)
	near(t, "responsibility", outcomes[0].Scores[1], b/(a+b), 1e-13)
	text, err := Kind().Describe(model.Model, jobs.DescribeOptions{})
	if err != nil || !strings.Contains(text, "stiffness 0.5; free energy") {
		t.Errorf("%s, %v", text, err)
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"algorithm":   func(a jobs.Arrays) { a.PutText("training.algorithm", "") },
		"stiffness":   func(a jobs.Arrays) { jobs.PutScalar(a, "soft.stiffness", 0.0) },
		"free energy": func(a jobs.Arrays) { jobs.PutScalar(a, "soft.free_energy", math.NaN()) },
		"none":        func(a jobs.Arrays) { delete(a, "soft.stiffness") },
	} {
		spoilt := train(t, `{"algorithm": "soft", "stiffness": 0.5, "k": 2, "max_rounds": 2}`, line).Model
		spoil(spoilt)
		if _, err := NewPredictor(spoilt, kernelops.Generic()); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}

// Records of two columns are drawn in the report, and those that two centers share are marked.
func TestPictureOfTwoColumns(t *testing.T) {
	data := rowsOf([]float32{0, 0}, []float32{0, 1}, []float32{4, 0}, []float32{4, 1}, []float32{2, 0.5})
	for params, marked := range map[string]int{
		`{"k": 2, "init": "given", "centers": [[0, 0], [4, 0]]}`:                                         0,
		`{"algorithm": "soft", "stiffness": 1, "k": 2, "init": "given", "centers": [[0, 0], [4, 0]]}`:    1,
		`{"algorithm": "soft", "stiffness": 1e-9, "k": 2, "init": "given", "centers": [[0, 0], [4, 0]]}`: 5,
	} {
		result := train(t, params, data...)
		figures, err := Kind().Figures(result.Model, result.Metrics)
		if err != nil || len(figures) != 2 || figures[1].Scatter == nil {
			t.Fatal(figures, err)
		}
		groups, points, rings := figures[1].Scatter.Groups, 0, 0
		for _, g := range groups[:2] {
			points += len(g.X)
			for _, is := range g.Marked {
				if is {
					rings++
				}
			}
		}
		if points != 5 || rings != marked || len(groups[2].X) != 2 || groups[2].Name != "centers" {
			t.Errorf("%s: %d rings of %+v", params, rings, groups)
		}
	}
}

func TestSoftParams(t *testing.T) {
	for params, want := range map[string]string{
		`{"k": 2, "algorithm": "soft"}`:                                 "algorithm soft needs stiffness",
		`{"k": 2, "algorithm": "soft", "stiffness": 0}`:                 "algorithm soft needs stiffness",
		`{"k": 2, "algorithm": "soft", "stiffness": -1}`:                "stiffness is in [1e-30, 1e30], not -1",
		`{"k": 2, "stiffness": 1}`:                                      "stiffness needs algorithm soft, not lloyd",
		`{"k": 2, "responsibilities": true}`:                            "responsibilities need algorithm soft",
		`{"k": 5000, "algorithm": "soft", "stiffness": 1}`:              "k is at most 4096, not 5000",
		`{"k": 2, "algorithm": "fuzzy", "stiffness": 1}`:                "algorithm is one of",
		`{"k": 2, "algorithm": "soft", "stiffness": 1, "indices": "a"}`: "",
	} {
		_, err := New(specOf(params))
		wantFault(t, err, "SPEC_INVALID", want)
	}
}
