package casetest

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// Data sets of matrices: products of irises, distances below 0, which have negative eigenvalues, and distances. Those
// to decide are rows of the five others.
var (
	irisProducts  = &Data{asDense, matrixOf(product)}
	irisDistances = &Data{asDense, matrixOf(minusDistance)}
	irisApart     = &Data{asDense, matrixOf(func(x, y []float32) float64 { return 0 - minusDistance(x, y) })}
)

// givenMachines are support vector machines with kernel precomputed.
func givenMachines() []Case {
	machine := "SupportVectorMachine"
	return []Case{
		{Name: "machine-precomputed", Kind: machine, Params: `{"kernel":"precomputed","C":0.1}`, Golden: true,
			Phases: irisProducts},
		{Name: "machine-clipped", Kind: machine, Params: `{"kernel":"precomputed","clip":true}`, Golden: true,
			Phases: irisDistances},
		{Name: "machine-precomputed-one-class", Kind: machine, Golden: true, Phases: irisProducts,
			Params: `{"mode":"one_class","kernel":"precomputed","nu":0.2}`},
		{Name: "machine-digits-precomputed", Kind: machine, Params: `{"kernel":"precomputed","C":0.001,"working_set":32}`,
			Matrix: &Clustered{Over: digitProducts,
				Digest: "d28252faf20d60924ec5223bb5a20c5b10e4e5214d9387bb9ad293ed9b4e87ea"}},
		{Name: "machine-digits-precomputed-one-class", Kind: machine,
			Params: `{"mode":"one_class","kernel":"precomputed","clip":true,"nu":0.2,"working_set":32,"novelty":{"labels":["3"]}}`,
			Matrix: &Clustered{Over: digitDistances,
				Digest: "c03f534deaef7f5a5d10b410ba373644934c562ac843f34ccd1764afd9021228"}},
		{Name: "machine-digits-clipped", Kind: machine,
			Params: `{"kernel":"precomputed","clip":true,"C":0.1,"working_set":32}`,
			Matrix: &Clustered{Over: digitDistances,
				Digest: "c9eb7b6ce4aa6b0663b38d9c438b42ab2dfa145650722843ee050fea16b9c072"}},
	}
}

func product(x, y []float32) float64 {
	sum := 0.0
	for j, v := range x {
		sum += float64(float64(v) * float64(y[j]))
	}
	return sum
}

func minusDistance(x, y []float32) float64 {
	sum := 0.0
	for j, v := range x {
		sum -= math.Abs(float64(v) - float64(y[j]))
	}
	return sum
}

// matrixOf gives irises as their kernel values.
func matrixOf(kernel func(x, y []float32) float64) func(testing.TB) (records, records) {
	return func(t testing.TB) (matrix, asked records) {
		t.Helper()
		rows, labels, others := irisRows(t)
		values := make([][]float32, 0, len(rows)+len(others))
		for _, x := range slices.Concat(rows, others) {
			row := make([]float32, len(rows))
			for j, y := range rows {
				row[j] = float32(kernel(x, y))
			}
			values = append(values, row)
		}
		return jobstest.DenseRecords(values[:len(rows)], labels...), jobstest.DenseRecords(values[len(rows):])
	}
}

// Data sets of the matrix of clusters: 240 digits in two objects, by their kernel values, with a fifth held out.
var (
	digitProducts  = digitMatrix(product)
	digitDistances = digitMatrix(minusDistance)
)

func digitMatrix(kernel func(x, y []float32) float64) *Objects {
	const n, first, pixels = 240, 130, 64
	fields := `"format":"csv","label":` + strconv.Itoa(n+1) + `,"split":{"test":0.2}`
	return &Objects{fields, fields, func(t testing.TB) Stored {
		lines, _ := digitObjects(t)
		var rows [][]float32
		var labels []string
		for _, line := range strings.Split(string(lines), "\n")[:n] {
			cells := strings.Split(line, ",")
			row := make([]float32, pixels)
			for j := range row {
				v, err := strconv.ParseFloat(cells[j], 32)
				if err != nil {
					t.Fatal(err)
				}
				row[j] = float32(v)
			}
			rows, labels = append(rows, row), append(labels, cells[pixels])
		}
		var objects [2]bytes.Buffer
		for i, x := range rows {
			to := &objects[0]
			if i >= first {
				to = &objects[1]
			}
			for _, y := range rows {
				to.WriteString(strconv.FormatFloat(kernel(x, y), 'g', -1, 64) + ",")
			}
			to.WriteString(labels[i] + "\n")
		}
		return Stored{Objects: map[string][]byte{"a.csv": objects[0].Bytes(), "b.csv": objects[1].Bytes()}}
	}}
}
