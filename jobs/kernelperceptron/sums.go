package kernelperceptron

import "github.com/gram-compute/gram/kernelops"

// sums are the functions, without b, at the records of a chunk: for each, alpha k is added in the order of the places.
type sums struct {
	ops     *kernelops.Set
	ws      kernelops.Workspace
	records int
	tile    kernelops.Matrix // kernel values: a row for each place, a column for each record
	f       []float64        // columns x records
	k       []float64        // a row of the tile
}

// begin takes the records of a chunk, with room for more places, and adds up all places that there are.
func (s *sums) begin(m *machine, x kernelops.Matrix, room int) {
	n, places := x.Rows, m.live
	if need := (places + room) * n; cap(s.tile.Data) < need {
		s.tile.Data = make([]float32, need+need/4)
	}
	s.records = n
	s.tile = kernelops.Matrix{Data: s.tile.Data[:(places+room)*n], Rows: places + room, Cols: n, Stride: n}
	if places > 0 {
		s.ops.KernelMatrix(s.tile.RowRange(0, places), m.kernel, m.matrix().RowRange(0, places), x, &s.ws)
	}
	if len(s.f) != m.columns()*n {
		s.f, s.k = make([]float64, m.columns()*n), make([]float64, n)
	}
	s.again(m, 0)
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
			s.ops.AddScaled(s.f[y*s.records+first:(y+1)*s.records], k, a)
		}
	}
}

// at sets f to the functions at a record, b included.
func (s *sums) at(m *machine, f []float64, record int) {
	for y, b := range m.b {
		f[y] = s.f[y*s.records+record] + b
	}
}
