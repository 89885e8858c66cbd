package supportvectormachine

import (
	"math"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/semidefinite"
	"github.com/gram-compute/gram/protocol"
)

// add looks at row i, the next.
func (l *look) add(row []float32, i int, trained uint8, seen *seen) {
	n := l.columns
	if l.gathers {
		l.trained, l.rows = append(l.trained, trained), append(l.rows, row...)
		return
	}
	l.trained, l.diagonal = append(l.trained, trained), append(l.diagonal, row[i])
	if seen != nil {
		l.compare(row, i, seen)
		return
	}
	others := 0.0
	for j, v := range row {
		h := hash(min(i, j), max(i, j), v)
		l.balance[i] += h
		l.balance[j] -= h
		others += math.Abs(float64(v))
	}
	own := float64(row[i])
	others -= math.Abs(own)
	// A sum of n roundings, and one of the difference.
	off := float64(float64(n+4) * 0x1p-52 * (others + float64(2*math.Abs(own))))
	if trained == 1 {
		l.dominant = min(l.dominant, own-others-off)
	}
}

// hash maps the value of a pair of records to 64 bits (the finalizer of SplitMix64, Steele, Lea and Flood, "Fast
// splittable pseudorandom number generators", OOPSLA 2014). Of row i the sum of the hashes less that of column i is 0
// if both are the same; if they are not, it is 0 with a chance of 2^-64.
func hash(i, j int, value float32) uint64 {
	if value == 0 {
		value = 0 // no sign
	}
	return mix(mix(uint64(i)<<32|uint64(j)) + uint64(math.Float32bits(value))*0x9e3779b97f4a7c15)
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// seen is what the first pass over a matrix that is not gathered found.
type seen struct {
	trained  []uint8
	diagonal []float32
	suspect  int // the first row that is not its column; -1 of none
	dominant float64
}

// seenDiagonal is an array of a state between both passes.
const seenDiagonal = "seen.diagonal"

// Fields lists what was seen of a number of columns.
func (s *seen) Fields(f *jobs.Fields, columns int) {
	jobs.List(f, seenDiagonal, &s.diagonal, columns)
	jobs.List(f, "seen.trained", &s.trained, columns)
	f.Int("seen.suspect", &s.suspect, -1, columns-1)
	jobs.Scalar(f, "seen.dominant", &s.dominant)
}

func seenOf(all *look) (*seen, error) {
	s := &seen{trained: all.trained, diagonal: all.diagonal, suspect: -1, dominant: all.dominant}
	if len(all.balance) != all.columns {
		return nil, jobs.Malformed("the hashes of %d columns, of %d", len(all.balance), all.columns)
	}
	for j, v := range all.balance {
		if v != 0 {
			s.suspect = j
			break
		}
	}
	for i, v := range s.diagonal {
		if s.trained[i] == 1 && v < 0 && s.suspect < 0 {
			return nil, negativeDiagonal(i, v)
		}
	}
	return s, nil
}

// pair is a value that no positive semidefinite matrix has beside its diagonal; both records are 0 of none.
type pair struct {
	row, column int64
	value       float32
}

func (p pair) found() bool { return p.row != p.column }

// compare looks at row i in the second pass.
func (l *look) compare(row []float32, i int, seen *seen) {
	if seen.suspect >= 0 {
		l.column = append(l.column, row[seen.suspect])
		if i == seen.suspect {
			l.row = append([]float32(nil), row...)
		}
		return
	}
	if l.pair.found() || seen.trained[i] == 0 {
		return
	}
	const room = 1 + 0x1p-20 // what rounding to float32 may do, and more
	for j, v := range row {
		// Products of two float32 are exact.
		square := float64(float64(v) * float64(v))
		if seen.trained[j] == 1 && square > float64(room*float64(float64(row[i])*float64(seen.diagonal[j]))) && j != i {
			if square < 0x1p-250 { // near the least float32, rounding is not relative
				continue
			}
			l.pair = pair{int64(i), int64(j), v}
			return
		}
	}
}

// judge ends the second pass.
func (s *seen) judge(all *look) error {
	if s.suspect >= 0 {
		if len(all.row) != all.columns || len(all.column) != all.columns {
			return jobs.Malformed("a row of %d and a column of %d values", len(all.row), len(all.column))
		}
		for j, v := range all.row {
			if v != all.column[j] {
				i := s.suspect
				return notSymmetric(min(i, j), max(i, j), pick(i < j, v, all.column[j]), pick(i < j, all.column[j], v))
			}
		}
		return jobs.Malformed("row %d is its column, and was not", s.suspect)
	}
	if p := all.pair; p.found() {
		return protocol.InputFault(protocol.CodeBadRecord, "the matrix is not positive semidefinite: record %d has %v with "+
			"record %d, and with themselves they have %v and %v, whose geometric mean is less", p.row, p.value,
			p.column, s.diagonal[p.row], s.diagonal[p.column]).WithHint(hintIndefinite)
	}
	return nil
}

func pick(first bool, a, b float32) float32 {
	if first {
		return a
	}
	return b
}

// symmetric compares the values on both sides of the diagonal.
func symmetric(values []float32, n int) error {
	for i := range n {
		for j := range i {
			if a, b := values[j*n+i], values[i*n+j]; a != b {
				return notSymmetric(j, i, a, b)
			}
		}
	}
	return nil
}

func tooLarge() error {
	return protocol.InputFault(protocol.CodeInputLimit, "the values of the matrix are too near the ends of float32").
		WithHint("Divide the matrix by a number, and multiply params.C by it.")
}

func notSquare(records int64, columns int) error {
	return protocol.InputFault(protocol.CodeBadRecord, "the matrix is not square: %d records have %d columns each",
		records, columns).WithHint("With kernel precomputed, column j of a record is its kernel with record j of spec.input, " +
		"counted from 0 over all objects in order; records held out have columns as well. Check that labels, weights and " +
		"ids are no columns (spec.input.features), that no record was skipped, and that no object is missing.")
}

func notSymmetric(i, j int, above, below float32) error {
	return protocol.InputFault(protocol.CodeBadRecord, "the matrix is not symmetric: record %d has %v in column %d, and "+
		"record %d has %v in column %d (records and columns are counted from 0)", i, above, j, j, below, i).
		WithHint("Check that the columns are in the order of the records. Where rounding made the values differ, write " +
			"(K + K') / 2.")
}

func negativeDiagonal(i int, value float32) error {
	return protocol.InputFault(protocol.CodeBadRecord, "the matrix is not positive semidefinite: record %d has %v with "+
		"itself, which is below 0", i, value).WithHint(hintIndefinite)
}

const hintIndefinite = "A kernel that is no inner product has no support vector machine with a proved optimum. " +
	"Choose another one, or set params.clip, which sets negative eigenvalues to 0 (of up to 2,000 records)."

func indefinite(l semidefinite.Least, n int) error {
	return protocol.InputFault(protocol.CodeBadRecord, "the matrix of the %d training records is not positive "+
		"semidefinite: its least eigenvalue is from %.6g to %.6g, and rounding to float32 may have moved it by %.3g", n,
		l.Low, l.High, l.Rounding).WithHint(hintIndefinite)
}
