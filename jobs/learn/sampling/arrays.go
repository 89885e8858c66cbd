package sampling

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// Fields lists the sample as the arrays "<name>.keys" (F64), "<name>.offsets" (I64), "<name>.objects" (strings) and
// "<name>.rows" (F32, a row a draw), in the order of Compare, and "<name>.size" (I64 scalar).
func Fields(f *jobs.Fields, name string, sample **Sample) {
	var c columns
	size := 0
	if !f.Reading() {
		c, size = columnsOf((*sample).Draws()), (*sample).size
	}
	f.Int(name+".size", &size, 1, math.MaxInt32)
	jobs.List(f, name+".keys", &c.keys)
	n := len(c.keys)
	jobs.List(f, name+".offsets", &c.offsets, n)
	f.Strings(name+".objects", &c.objects)
	f.Dim(name+".rows", 1, &c.width)
	jobs.List(f, name+".rows", &c.rows, n, c.width)
	f.Require(c.objects.Len() == n && n <= size, "a sample of %d records out of %d has %d objects", n, size,
		c.objects.Len())
	if f.Reading() {
		*sample = New(size)
		f.Check(func() error { return (*sample).read(c) })
	}
}

// columns are draws as arrays.
type columns struct {
	keys    []float64
	offsets []int64
	objects jobs.Strings
	width   int // of each row
	rows    []float32
}

func columnsOf(draws []Draw) columns {
	c := columns{keys: make([]float64, len(draws)), offsets: make([]int64, len(draws))}
	if len(draws) > 0 {
		c.width = len(draws[0].Row)
	}
	c.rows = make([]float32, 0, len(draws)*c.width)
	for i, d := range draws {
		c.keys[i], c.offsets[i] = d.Key, d.ID.Offset
		c.objects.Append([]byte(d.ID.Object))
		c.rows = append(c.rows, d.Row...)
	}
	return c
}

func (s *Sample) read(c columns) error {
	for i, key := range c.keys {
		if !(key < math.Inf(1)) {
			return jobs.Malformed("a sample with a key of %v", key)
		}
		id := dataset.Identity{Object: string(c.objects.At(i)), Offset: c.offsets[i]}
		s.offer(Draw{Key: key, ID: id, Row: c.rows[i*c.width : (i+1)*c.width]})
	}
	return nil
}
