package kernelops

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"unsafe"
)

// edgeOp runs an operation on operands that it takes from m: rows of x, rows of y, their dimension.
type edgeOp func(s *Set, m *edgeMemory, rows, cols, dim int)

// edgeOps holds every method of Set.
var edgeOps = map[string]edgeOp{
	"Add":       func(s *Set, m *edgeMemory, _, _, dim int) { s.Add(m.results64(dim), m.float64s(dim)) },
	"AddScaled": func(s *Set, m *edgeMemory, _, _, dim int) { s.AddScaled(m.results64(dim), m.float64s(dim), 3) },
	"Dot": func(s *Set, m *edgeMemory, _, _, dim int) {
		m.results32(1)[0] = s.Dot(m.float32s(dim), m.float32s(dim))
	},
	"DotEach":         edgeReduction(dotEach),
	"DotRows":         edgeReduction((*Set).DotRows),
	"SqEuclideanRows": edgeReduction((*Set).SqEuclideanRows),
	"L1Rows":          edgeReduction((*Set).L1Rows),
	"LInfRows":        edgeReduction((*Set).LInfRows),
	"Axpy":            func(s *Set, m *edgeMemory, _, _, dim int) { s.Axpy(m.results32(dim), m.float32s(dim), 3) },
	"Axpby": func(s *Set, m *edgeMemory, _, _, dim int) {
		s.Axpby(m.results32(dim), m.float32s(dim), 3, 0.7)
	},
	"AxpyRows": func(s *Set, m *edgeMemory, rows, _, dim int) {
		s.AxpyRows(m.results32(dim), m.matrix(rows, dim), m.float32s(rows))
	},
	"AccumulateRows": func(s *Set, m *edgeMemory, rows, _, dim int) {
		s.AccumulateRows(m.results64(3*dim), m.matrix(rows, dim), m.int32s(rows, 3))
	},
	"GroupDistances": func(s *Set, m *edgeMemory, rows, _, dim int) {
		s.GroupDistances(m.results64(rows), m.matrix(rows, dim), m.float64s(3*dim), m.int32s(rows, 3))
	},
	"Bounds":   edgeBounds,   // of a method of its own type
	"ByteRows": edgeByteRows, // so is this
	"SumParts": func(s *Set, m *edgeMemory, rows, _, dim int) {
		s.SumParts(m.results64(6*dim), m.float64s(dim), m.matrix(rows, dim), m.int32s(rows, 3))
	},
	"SquareParts": func(s *Set, m *edgeMemory, rows, _, dim int) {
		s.SquareParts(m.results64(9*dim), m.float64s(dim), m.matrix(rows, dim), m.int32s(rows, 3))
	},
	"ColumnRanges": func(s *Set, m *edgeMemory, rows, _, dim int) {
		least := m.results32(dim)
		for j := range least {
			least[j] = 0.5
		}
		s.ColumnRanges(m.results32(dim), m.results32(dim), least, m.matrix(rows, dim))
	},
	"HammingRows": func(s *Set, m *edgeMemory, rows, _, dim int) {
		if dim == 0 {
			rows = 0
		}
		s.HammingRows(m.resultsInt(rows), m.words(rows*dim), m.words(dim))
	},
	"MixedDot": func(s *Set, m *edgeMemory, _, _, dim int) {
		m.results64(1)[0] = s.Mixed.Dot(m.float64s(dim), m.float32s(dim))
	},
	"MixedSquare": func(s *Set, m *edgeMemory, _, _, dim int) { m.results64(1)[0] = s.Mixed.Square(m.float32s(dim)) },
	"MixedAxpy": func(s *Set, m *edgeMemory, _, _, dim int) {
		s.Mixed.Axpy(m.results64(dim), m.float32s(dim), 3)
	},
	"MixedAddScaledRows": func(s *Set, m *edgeMemory, rows, _, dim int) {
		s.Mixed.AddScaledRows(m.results64(dim), m.float64s(rows*dim), dim, m.float64s(rows))
	},
	"MixedProducts": func(s *Set, m *edgeMemory, rows, cols, dim int) {
		s.Mixed.Products(m.results64(rows*cols), m.matrix(rows, dim), m.matrix(cols, dim), m.float32s(dim),
			&ProductSpace{})
	},
	"MixedExps": func(s *Set, m *edgeMemory, _, _, dim int) { s.Mixed.Exps(m.results64(dim)) },
	"MixedSparseDot": func(s *Set, m *edgeMemory, _, _, dim int) {
		m.results64(1)[0] = s.Mixed.SparseDot(m.int32s(dim, dim), m.float32s(dim), m.float64s(dim))
	},
	"MixedSparseDotBefore": func(s *Set, m *edgeMemory, _, _, dim int) {
		m.results64(1)[0] = s.Mixed.SparseDotBefore(m.int32s(dim, dim), m.float32s(dim), m.float64s(dim),
			m.int32s(dim, dim), m.float32s(dim))
	},
	"SparseDot": func(s *Set, m *edgeMemory, rows, cols, _ int) {
		m.results32(1)[0] = s.SparseDot(m.int32s(rows, cols), m.float32s(rows), m.float32s(max(cols, 1)))
	},
	"SparseDotBefore": func(s *Set, m *edgeMemory, rows, cols, _ int) {
		index, value := m.int32s(rows, cols), m.float32s(rows)
		m.results32(1)[0] = s.SparseDotBefore(index, value, m.float32s(max(cols, 1)), index[rows/2:], value[rows/2:])
	},
	"SparseAxpy": func(s *Set, m *edgeMemory, rows, cols, _ int) {
		s.SparseAxpy(m.results32(max(cols, 1)), m.int32s(rows, cols), m.float32s(rows), 3)
	},
	"Dots":    edgePairs((*Set).Dots),
	"SqDists": edgePairs((*Set).SqDists),
	"KernelMatrix": func(s *Set, m *edgeMemory, rows, cols, dim int) {
		x, y := m.matrix(rows, dim), m.matrix(cols, dim)
		for _, k := range edgeKernels {
			s.KernelMatrix(m.resultMatrix(rows, cols), k, x, y, &Workspace{})
		}
	},
	"KernelMatrixSymmetric": func(s *Set, m *edgeMemory, rows, _, dim int) {
		s.KernelMatrixSymmetric(m.resultMatrix(rows, rows), edgeKernels[1], m.matrix(rows, dim), &Workspace{})
	},
	"KernelSums": func(s *Set, m *edgeMemory, rows, cols, dim int) {
		s.KernelSums(m.results64(3*rows), edgeKernels[1], m.matrix(rows, dim), m.matrix(cols, dim), m.int32s(cols, 3),
			&Workspace{})
	},
	"PackCenters": edgeNearest,
	"Nearest":     edgeNearest,
	"Search": func(s *Set, m *edgeMemory, rows, cols, dim int) {
		s.Search(m.resultsInt(3*rows), m.results64(3*rows), 3, m.matrix(rows, dim), m.matrix(cols, dim), &Workspace{})
	},
	"SearchBytes": edgeBytes,
	"Project": func(s *Set, m *edgeMemory, rows, cols, dim int) {
		s.Project(NewProjection(1, "edges", max(cols, 1)), m.resultMatrix(rows, max(cols, 1)), m.matrix(rows, dim), 0)
	},
}

var edgeKernels = []Kernel{
	{}, {Kind: RBF, Scale: 0.1}, {Kind: Polynomial, Scale: 0.5, Offset: 1, Degree: 3},
	{Kind: Sigmoid, Scale: 0.1, Offset: 0.3},
}

func edgeReduction(f func(*Set, []float32, Matrix, []float32)) edgeOp {
	return func(s *Set, m *edgeMemory, rows, _, dim int) {
		f(s, m.results32(rows), m.matrix(rows, dim), m.float32s(dim))
	}
}

func edgePairs(f func(s *Set, dst, x, y Matrix, ws *Workspace)) edgeOp {
	return func(s *Set, m *edgeMemory, rows, cols, dim int) {
		f(s, m.resultMatrix(rows, cols), m.matrix(rows, dim), m.matrix(cols, dim), &Workspace{})
	}
}

func edgeBounds(s *Set, m *edgeMemory, rows, cols, dim int) {
	dim = max(dim, 1)
	origin := m.float32s(dim)
	c := s.PackCenters(m.float64s(cols*dim), origin)
	index, sqDist := m.resultsInt32(rows), m.results64(rows)
	x := m.matrix(rows, dim)
	b := NewBounds(s, c, rows, NewByteRows(s, x, origin))
	if b == nil {
		s.Nearest(index, sqDist, x, c, &Workspace{})
		return
	}
	clear(index)
	b.Nearest(index, sqDist, x, 0, &Workspace{})
}

// edgeByteRows finds centers by bytes, first without a last one, with a tile of each width.
func edgeByteRows(s *Set, m *edgeMemory, rows, cols, dim int) {
	dim = max(dim, 1)
	origin, values := m.float32s(dim), m.float64s(cols*dim)
	c := s.PackCenters(values, origin)
	index, sqDist := m.resultsInt32(rows), m.results64(rows)
	x := m.matrix(rows, dim)
	b := NewByteRows(s, x, origin)
	if b == nil {
		s.Nearest(index, sqDist, x, c, &Workspace{})
		return
	}
	for i := range index {
		index[i] = -1
	}
	b.Nearest(index, sqDist, x, c, 0, &Workspace{})
	// now there are last ones
	b.Nearest(index, sqDist, x, s.PackCenters(values, origin), 0, &Workspace{})
	if cols > 0 { // the same centers many times over, by the other tile
		many := s.PackCenters(slices.Repeat(values, 64), origin)
		b.Nearest(index, sqDist, x, many, 0, &Workspace{})
		if rows > 0 {
			index[0] = -1
		}
		b.Nearest(index, sqDist, x, many, 0, &Workspace{})
	}
}

func edgeNearest(s *Set, m *edgeMemory, rows, cols, dim int) {
	dim = max(dim, 1)
	c := s.PackCenters(m.float64s(cols*dim), m.float32s(dim))
	index, sqDist := m.resultsInt32(rows), m.results64(rows)
	x := m.matrix(rows, dim)
	s.Nearest(index, sqDist, x, c, &Workspace{})
	new(Within).Find(s, x, c, 1, &Workspace{})
}

// edgeBytes searches a base as bytes, whatever its size, for all rows at once and for the first alone.
func edgeBytes(s *Set, m *edgeMemory, rows, cols, dim int) {
	x, y := m.matrix(rows, dim), m.matrix(cols, dim)
	ids, dists := m.resultsInt(3*rows+3), m.results64(3*rows+3)
	var ws Workspace
	var base Base
	base.Pack(s, y, 0, &ws)
	bytes := s.bytes != nil && dim > 0 && cols > 0 && base.bytes.pack(s, y, &ws)
	base.search(ids[:3*rows], dists[:3*rows], 3, x, nil, bytes, &ws)
	one := x.RowRange(0, min(1, rows))
	base.search(ids[3*rows:][:3*one.Rows], dists[3*rows:][:3*one.Rows], 3, one, nil, bytes, &ws)
}

// TestEdges runs every operation of every set with each operand against a page that may not be
// touched, behind it or before it, and a zone of NaN on its other side and between its rows: the
// results are the bytes of the generic set, and nothing else has changed.
func TestEdges(t *testing.T) {
	m := &edgeMemory{t: t}
	sets := All() // the generic one first
	for _, name := range slices.Sorted(mapKeys(edgeOps)) {
		for _, shape := range edgeShapes() {
			for _, atEnd := range []bool{true, false} {
				want := m.run(sets[0], edgeOps[name], shape, atEnd)
				for _, s := range sets[1:] {
					m.where = fmt.Sprintf("%s %s of %v, at the end of pages: %v", s.Name, name, shape, atEnd)
					if got := m.run(s, edgeOps[name], shape, atEnd); !reflect.DeepEqual(got, want) {
						t.Fatalf("%s: other bytes than the generic set's\n%x\n%x", m.where, got, want)
					}
				}
			}
		}
	}
}

// edgeShapes are rows, columns and dimensions on both sides of every tile.
func edgeShapes() [][3]int {
	shapes := [][3]int{{0, 3, 5}, {3, 0, 5}, {3, 4, 0}, {1, 1, 1}}
	for n := 1; n <= 2*tile32+9; n += 1 + n/9 {
		shapes = append(shapes, [3]int{n % 14, 1 + n%7, n})
	}
	for n := 1; n <= 2*maxWidth+9; n += 1 + n/16 {
		shapes = append(shapes, [3]int{1 + n%37, n, n % 18})
	}
	return append(shapes, [3]int{blockRows + 5, 19, 9}, [3]int{19, blockRows + 5, 9}, [3]int{12, 32, 8},
		[3]int{60, 60, 8}, [3]int{19, maxWidth + 1, 25})
}

// TestEdgesCoverEverything finds a method of Set, or an implementation behind one, that TestEdges does
// not run.
func TestEdgesCoverEverything(t *testing.T) {
	methods := reflect.TypeFor[*Set]()
	for i := range methods.NumMethod() {
		if name := methods.Method(i).Name; edgeOps[name] == nil {
			t.Errorf("method %s has no entry in edgeOps", name)
		}
	}
	for _, s := range All() {
		calls := map[string]int{}
		s, m := recorded(s, calls), &edgeMemory{t: t}
		for _, op := range edgeOps {
			for _, shape := range [][3]int{{37, 5, 9}, {3, 9, 16}, {15, 70, 9}, {5, 20, 9}, {15, 70, 25}} {
				m.run(s, op, shape, true)
			}
		}
		if len(calls) < 10 {
			t.Fatalf("%s: found %d functions only", s.Name, len(calls))
		}
		for _, field := range slices.Sorted(mapKeys(calls)) {
			if calls[field] == 0 && field != ".Decimals" { // text, before such a page in package decimal
				t.Errorf("set %s: TestEdges does not run %s", s.Name, field)
			}
		}
	}
}

func mapKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// recorded returns a copy of s whose functions count their calls by the path of their field. A function
// without arguments touches no memory and is not counted.
func recorded(s *Set, calls map[string]int) *Set {
	c := *s
	if s.matrix != nil {
		matrix := *s.matrix
		matrix.panels = slices.Clone(matrix.panels)
		c.matrix = &matrix
	}
	record(reflect.ValueOf(&c).Elem(), "", calls)
	return &c
}

func record(v reflect.Value, path string, calls map[string]int) {
	v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() // fields are not exported
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			record(v.Elem(), path, calls)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			record(v.Field(i), path+"."+v.Type().Field(i).Name, calls)
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			record(v.Index(i), fmt.Sprintf("%s[%d]", path, i), calls)
		}
	case reflect.Func:
		if v.IsNil() || v.Type().NumIn() == 0 {
			return
		}
		calls[path] = 0
		inner := reflect.ValueOf(v.Interface())
		v.Set(reflect.MakeFunc(v.Type(), func(args []reflect.Value) []reflect.Value {
			calls[path]++
			return inner.Call(args)
		}))
	}
}
