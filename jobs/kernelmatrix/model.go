package kernelmatrix

import (
	"encoding/hex"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/jobs/kernels"
)

// Arrays of a model, beside those of features.Space and of package kernels, which has the version of the layout.
const (
	modelSize    = "matrix"           // I64 [rows, columns, tiles, bytes of the tiles]
	modelIndex   = "matrix.index"     // U8: SHA-256 of tiles/index.json, in hexadecimal
	modelIDs     = "sample.objects"   // of the records drawn; absent where none were
	modelOffsets = "sample.offsets"   // I64
	modelValues  = "sample.values"    // F32 [drawn, drawn]
	modelError   = "sample.tolerance" // F64 scalar
	modelShape   = "matrix.symmetric" // I32 scalar: 1 or 0
)

type model struct {
	space         *features.Space
	kernel        kernels.Function
	roads         kernels.Roads
	symmetric     bool
	rows, columns int64
	tiles, bytes  int64
	index         string
	sample        *sample // nil for none
}

func (m *model) arrays() jobs.Arrays {
	a := jobs.Arrays{}
	a.PutKind(KindName, m.kernel.Version())
	m.space.Put(a)
	m.kernel.Put(a)
	m.roads.Put(a, m.kernel)
	symmetric := int32(0)
	if m.symmetric {
		symmetric = 1
	}
	jobs.PutScalar(a, modelShape, symmetric)
	jobs.Put(a, modelSize, []int64{m.rows, m.columns, m.tiles, m.bytes})
	a.PutText(modelIndex, m.index)
	if m.sample == nil {
		return a
	}
	n := len(m.sample.ids)
	objects, offsets := make([]string, n), make([]int64, n)
	for i, id := range m.sample.ids {
		objects[i], offsets[i] = id.Object, id.Offset
	}
	a.PutStrings(modelIDs, jobs.StringsOf(objects...))
	jobs.Put(a, modelOffsets, offsets)
	jobs.Put(a, modelValues, m.sample.values, n, n)
	jobs.PutScalar(a, modelError, m.sample.tolerance)
	return a
}

// readModel reads a model, linear in its bytes; what the job would not have written is a
// *protocol.Fault of CodeCorrupt.
func readModel(a jobs.Arrays) (*model, error) {
	if err := kernels.CheckKind(a, KindName); err != nil {
		return nil, err
	}
	m := &model{}
	var err error
	if m.space, err = features.ReadSpace(a); err != nil {
		return nil, err
	}
	if m.kernel, err = kernels.ReadFunction(a, m.space); err != nil {
		return nil, err
	}
	if m.roads, err = kernels.ReadRoads(a, m.kernel); err != nil {
		return nil, err
	}
	symmetric, err := jobs.GetScalar[int32](a, modelShape)
	if err != nil {
		return nil, err
	}
	size, err := jobs.Get[int64](a, modelSize, 4)
	if err != nil {
		return nil, err
	}
	m.symmetric = symmetric == 1
	m.rows, m.columns, m.tiles, m.bytes = size[0], size[1], size[2], size[3]
	if m.index, err = a.Text(modelIndex); err != nil {
		return nil, err
	}
	if _, drawn := a[modelError]; drawn {
		if m.sample, err = readSample(a); err != nil {
			return nil, err
		}
	}
	return m, m.check(symmetric)
}

func (m *model) check(symmetric int32) error {
	sum, err := hex.DecodeString(m.index)
	switch {
	case symmetric != 0 && symmetric != 1:
		return jobs.Malformed("array %q is %d", modelShape, symmetric)
	case m.rows < 0 || m.rows > maxRecords || m.columns < 0 || m.columns > maxRecords || m.tiles < 0 || m.bytes < 0,
		m.symmetric && m.rows != m.columns:
		return jobs.Malformed("a kernel matrix of %d x %d in %d tiles of %d bytes", m.rows, m.columns, m.tiles, m.bytes)
	case err != nil || len(sum) != 32:
		return jobs.Malformed("array %q is no SHA-256", modelIndex)
	case m.sample != nil && (!m.symmetric || int64(len(m.sample.ids)) > m.rows):
		return jobs.Malformed("a sample of %d records of a matrix of %d x %d", len(m.sample.ids), m.rows, m.columns)
	}
	return nil
}

func readSample(a jobs.Arrays) (*sample, error) {
	objects, err := a.Strings(modelIDs)
	if err != nil {
		return nil, err
	}
	n := objects.Len()
	if n > maxSample {
		return nil, jobs.Malformed("a sample of %d records; there are at most %d", n, maxSample)
	}
	offsets, err := jobs.Get[int64](a, modelOffsets, n)
	if err != nil {
		return nil, err
	}
	s := &sample{}
	for i, offset := range offsets {
		s.ids = append(s.ids, dataset.Identity{Object: string(objects.At(i)), Offset: offset})
	}
	if s.values, err = jobs.Get[float32](a, modelValues, n, n); err != nil {
		return nil, err
	}
	if s.tolerance, err = jobs.GetScalar[float64](a, modelError); err != nil {
		return nil, err
	}
	return s, s.check()
}

func (s *sample) check() error {
	if t := s.tolerance; !(t >= 0) || t-t != 0 {
		return jobs.Malformed("array %q is %v", modelError, t)
	}
	if !jobs.Finite(s.values) {
		return jobs.Malformed("array %q has a value that is not finite", modelValues)
	}
	n := len(s.ids)
	for i := range n {
		for j := range i {
			if s.values[i*n+j] != s.values[j*n+i] {
				return jobs.Malformed("array %q is not symmetric at (%d, %d)", modelValues, i, j)
			}
		}
	}
	return nil
}
