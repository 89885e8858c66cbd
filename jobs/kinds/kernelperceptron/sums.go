package kernelperceptron

import (
	"slices"

	"github.com/gram-compute/gram/jobs/learn/kernels"
	"github.com/gram-compute/gram/kernelops"
)

// sums are the functions, without b, at the records of a chunk: for each, alpha k is added in the order of the places.
type sums struct {
	kernels.Evaluator
	records int
	tile    kernelops.Matrix // kernel values: a row for each place, a column for each record
	marks   marks            // of tile
	f       []float64        // columns x records
	k       []float64        // a row of the tile
}

func newSums(ops *kernelops.Set) sums { return sums{Evaluator: kernels.Evaluator{Ops: ops}} }

// marks tell the kernel values of a matrix that were taken from differences.
type marks struct {
	columns int
	size    int
	of      []bool // nil or empty while there are none
}

func (m *marks) begin(rows, columns int) {
	m.columns, m.size, m.of = columns, rows*columns, m.of[:0]
}

func (m *marks) set(i, j int) {
	m.make()
	m.of[i*m.columns+j] = true
}

func (m *marks) make() {
	if len(m.of) == 0 {
		m.of = slices.Grow(m.of, m.size)[:m.size]
		clear(m.of)
	}
}

// column tells the rows of column j that were set; nil for none.
func (m *marks) column(j int) func(i int) bool {
	if len(m.of) == 0 {
		return nil
	}
	return func(i int) bool { return m.of[i*m.columns+j] }
}

// copyRow makes row i what row j of another matrix is.
func (m *marks) copyRow(i int, from *marks, j int) {
	if len(m.of) == 0 && len(from.of) == 0 {
		return
	}
	m.make()
	row := m.of[i*m.columns:][:m.columns]
	if clear(row); len(from.of) > 0 {
		copy(row, from.of[j*m.columns:][:m.columns])
	}
}

// begin takes the records of a chunk, with room for more places, and adds up all places that there are.
func (s *sums) begin(m *machine, x *kernels.Points, room int) error {
	n, places := x.Rows.Rows, m.live
	if need := (places + room) * n; cap(s.tile.Data) < need {
		s.tile.Data = make([]float32, need+need/4)
	}
	s.records = n
	s.tile = kernelops.Matrix{Data: s.tile.Data[:(places+room)*n], Rows: places + room, Cols: n, Stride: n}
	s.marks.begin(places+room, n)
	if places > 0 {
		s.Mark = s.marks.set
		if err := s.Matrix(m.kernel, s.tile.RowRange(0, places), m.points(), x); err != nil {
			return err
		}
	}
	if len(s.f) != m.columns()*n {
		s.f, s.k = make([]float64, m.columns()*n), make([]float64, n)
	}
	s.again(m, 0)
	return nil
}

// again adds up all places anew at the records from first on.
func (s *sums) again(m *machine, first int) {
	for y := range m.columns() {
		clear(s.f[y*s.records+first : (y+1)*s.records])
	}
	for place := range m.live {
		s.add(m, place, first)
	}
}

// add adds a place at the records from first on. A coefficient of 0 changes no sum: each place has another, by
// which a kernel value that is not finite is noticed.
func (s *sums) add(m *machine, place, first int) {
	k := s.k[first:]
	for i, v := range s.tile.Row(place)[first:] {
		k[i] = float64(v)
	}
	columns := m.columns()
	for y, a := range m.alpha[place*columns : (place+1)*columns] {
		if a != 0 {
			s.Ops.AddScaled(s.f[y*s.records+first:(y+1)*s.records], k, a)
		}
	}
}

// at sets f to the functions at a record, b included.
func (s *sums) at(m *machine, f []float64, record int) {
	for y, b := range m.b {
		f[y] = s.f[y*s.records+record] + b
	}
}
