package kernels

import (
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Evaluator computes kernel values. A value of rbf is a function of its two rows and the Function alone, whatever the
// kernel set and however rows are cut into blocks: |x-y|^2 comes from the products of the centered rows where the
// proved error is within the tolerance, else from the differences of the rows as they were read, in float32 or,
// where that is not enough, in float64. One goroutine.
type Evaluator struct {
	Ops   *kernelops.Set
	Roads Roads // of all values since it was cleared

	// Mark, where not nil, is called for each value that was taken from differences.
	Mark func(i, j int)

	// Threads is the number of goroutines among which Symmetric divides its products; 0 means 1. It changes no bit.
	Threads int

	ws        kernelops.Workspace
	distances []float32 // of a strip
	chosen    []int     // columns of a row that are measured by differences
	float     []float32
	double    []float64
	values    []float32 // of Sums
}

// strip is how many rows are looked through at a time.
const strip = 256

// Matrix sets dst to the kernel values of the rows of x and y. Values of a model from before origins that are not
// known to within MaxError are a *protocol.Fault of CodeBadRecord.
func (e *Evaluator) Matrix(f Function, dst kernelops.Matrix, x, y *Points) error {
	e.Ops.KernelMatrix(dst, f.Kernel, x.centered, y.centered, &e.ws)
	if f.Kind != kernelops.RBF || x.Rows.Rows == 0 || y.Rows.Rows == 0 {
		return nil
	}
	most := y.most()
	if pair := x.most().plus(most); f.within(pair) {
		e.Roads.products(f.error(pair))
		return nil
	}
	return e.look(f, dst, x, y, most, false)
}

// Symmetric sets dst to the kernel values of the rows of x among themselves. A pair counts once, and a row with
// itself does not.
func (e *Evaluator) Symmetric(f Function, dst kernelops.Matrix, x *Points) error {
	e.ws.Threads = e.Threads
	defer func() { e.ws.Threads = 0 }()
	e.Ops.KernelMatrixSymmetric(dst, f.Kernel, x.centered, &e.ws)
	if f.Kind != kernelops.RBF {
		return nil
	}
	for i := range x.Rows.Rows {
		dst.Row(i)[i] = 1 // also where the norm is beyond float32
	}
	if x.Rows.Rows < 2 {
		return nil
	}
	if pair := x.twoMost(); f.within(pair) {
		e.Roads.products(f.error(pair))
		return nil
	}
	return e.look(f, dst, x, x, x.most(), true)
}

// look finds the values whose |x-y|^2 is not proved, and takes them from differences.
func (e *Evaluator) look(f Function, dst kernelops.Matrix, x, y *Points, most share, symmetric bool) error {
	n := y.Rows.Rows
	for first := 0; first < x.Rows.Rows; first += strip {
		rows := x.Range(first, min(first+strip, x.Rows.Rows))
		if pair := rows.most().plus(most); !symmetric && f.within(pair) {
			e.Roads.products(f.error(pair))
			continue
		}
		e.distances = kernelops.Resize(e.distances, rows.Rows.Rows*n)
		d := kernelops.Matrix{Data: e.distances, Rows: rows.Rows.Rows, Cols: n, Stride: n}
		e.Ops.SqDists(d, rows.centered, y.centered, &e.ws)
		for i := range d.Rows {
			from := 0
			if symmetric {
				from = first + i + 1
			}
			e.choose(f, d.Row(i), rows.shares[i], y.shares, from)
			if len(e.chosen) == 0 {
				continue
			}
			if f.legacy {
				return legacyFault(f)
			}
			e.differences(f, dst.Row(first+i), rows.Rows.Row(i), y.Rows)
			for _, j := range e.chosen {
				if symmetric {
					dst.Row(j)[first+i] = dst.Row(first + i)[j]
				}
				if e.Mark != nil {
					e.Mark(first+i, j)
				}
			}
		}
	}
	return nil
}

// choose lists the columns of a row, from one on, whose values are neither proved nor surely 0 on both roads.
func (e *Evaluator) choose(f Function, distances []float32, own share, others []share, from int) {
	e.chosen = e.chosen[:0]
	largest := 0.0
	for j := from; j < len(distances); j++ {
		pair := own.plus(others[j])
		bound := f.error(pair)
		if !f.within(pair) {
			t := float64(f.gamma() * (float64(distances[j]) - pair.proved)) // the least that gamma |x-y|^2 may be
			if !(bound <= MaxError && t > faint) {
				if !(t > vanishing) {
					e.chosen = append(e.chosen, j)
				}
				continue
			}
		}
		largest = max(largest, bound)
	}
	e.Roads.products(largest)
	e.Roads.Differences += int64(len(e.chosen))
}

// differences sets the chosen values of a row.
func (e *Evaluator) differences(f Function, values, x []float32, y kernelops.Matrix) {
	e.float = kernelops.Resize(e.float, y.Rows)
	most := len(e.chosen) > y.Rows/4
	if most {
		e.Ops.SqEuclideanRows(e.float, y, x)
	}
	for _, j := range e.chosen {
		if !most {
			e.Ops.SqEuclideanRows(e.float[j:j+1], y.RowRange(j, j+1), x)
		}
		d := float64(e.float[j])
		if !(f.differencesError(e.float[j]) <= f.tolerance()) {
			d = e.exact(x, y.RowRange(j, j+1))
		}
		values[j] = exponential(float64(f.gamma() * d))
	}
}

// exact is |x-y|^2 in float64, of one row y. It errs by up to (width/4 + 3) 2^-53 of itself.
func (e *Evaluator) exact(x []float32, y kernelops.Matrix) float64 {
	var d [1]float64
	group := [1]int32{}
	e.double = kernelops.Resize(e.double, len(x))
	for k, v := range x {
		e.double[k] = float64(v)
	}
	e.Ops.GroupDistances(d[:], y, e.double, group[:])
	return d[0]
}

// Sums adds the values of the rows of x and y to sums by the class of the row of y, as kernelops.Set.KernelSums
// does, times the weight of the row of y; weights nil are 1 each.
func (e *Evaluator) Sums(f Function, sums []float64, x, y *Points, class []int32, weights []float32) error {
	if weights != nil {
		return e.weighted(f, sums, x, y, class, weights)
	}
	if f.Kind == kernelops.RBF {
		pair := x.most().plus(y.most())
		if !f.within(pair) {
			return e.weighted(f, sums, x, y, class, nil)
		}
		e.Roads.products(f.error(pair))
	}
	e.Ops.KernelSums(sums, f.Kernel, x.centered, y.centered, class, &e.ws)
	return nil
}

func (e *Evaluator) weighted(f Function, sums []float64, x, y *Points, class []int32, weights []float32) error {
	n, classes := y.Rows.Rows, len(sums)/max(1, x.Rows.Rows)
	e.values = kernelops.Resize(e.values, x.Rows.Rows*n)
	m := kernelops.Matrix{Data: e.values, Rows: x.Rows.Rows, Cols: n, Stride: n}
	if err := e.Matrix(f, m, x, y); err != nil {
		return err
	}
	for i := range m.Rows {
		row := sums[i*classes : (i+1)*classes]
		for j, v := range m.Row(i) {
			term := float64(v)
			if weights != nil {
				term = float64(float64(weights[j]) * term)
			}
			row[class[j]] += term
		}
	}
	return nil
}

func legacyFault(f Function) error {
	return protocol.InputFault(protocol.CodeBadRecord,
		"a value of the kernel (%s) is not known to within %v: "+
			"the model does not center its rows, which lie far from 0", Text(f.Kernel), MaxError).
		WithHint("Train the model again: rows are centered then.")
}
