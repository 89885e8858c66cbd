package sampling

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// Put stores the sample as the arrays "<name>.keys" (F64), "<name>.offsets" (I64), "<name>.objects"
// (strings) and "<name>.rows" (F32, a row a draw), in the order of Compare, and "<name>.size" (I64 scalar).
func (s *Sample) Put(a jobs.Arrays, name string) {
	draws := s.Draws()
	keys, offsets := make([]float64, len(draws)), make([]int64, len(draws))
	objects, width := jobs.Strings{}, 0
	if len(draws) > 0 {
		width = len(draws[0].Row)
	}
	rows := make([]float32, 0, len(draws)*width)
	for i, d := range draws {
		keys[i], offsets[i] = d.Key, d.ID.Offset
		objects.Append([]byte(d.ID.Object))
		rows = append(rows, d.Row...)
	}
	jobs.PutScalar(a, name+".size", int64(s.size))
	jobs.Put(a, name+".keys", keys)
	jobs.Put(a, name+".offsets", offsets)
	a.PutStrings(name+".objects", objects)
	jobs.Put(a, name+".rows", rows, len(draws), width)
}

// Read returns a sample stored by Put; errors are those of jobs.Get.
func Read(a jobs.Arrays, name string) (*Sample, error) {
	size, err := jobs.GetScalar[int64](a, name+".size")
	if err != nil {
		return nil, err
	}
	keys, err := jobs.Get[float64](a, name+".keys")
	if err != nil {
		return nil, err
	}
	offsets, err := jobs.Get[int64](a, name+".offsets", len(keys))
	if err != nil {
		return nil, err
	}
	objects, err := a.Strings(name + ".objects")
	if err != nil {
		return nil, err
	}
	rows, err := jobs.Get[float32](a, name+".rows", len(keys), -1)
	if err != nil {
		return nil, err
	}
	if objects.Len() != len(keys) || size < 1 || size > math.MaxInt32 || int64(len(keys)) > size {
		return nil, jobs.Malformed("a sample of %d records out of %d has %d objects", len(keys), size, objects.Len())
	}
	s, width := New(int(size)), len(rows)/max(1, len(keys))
	for i, key := range keys {
		if !(key < math.Inf(1)) {
			return nil, jobs.Malformed("a sample with a key of %v", key)
		}
		id := dataset.Identity{Object: string(objects.At(i)), Offset: offsets[i]}
		s.offer(Draw{Key: key, ID: id, Row: rows[i*width : (i+1)*width]})
	}
	return s, nil
}
