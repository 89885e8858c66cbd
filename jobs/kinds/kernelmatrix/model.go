package kernelmatrix

import (
	"encoding/hex"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/kernels"
)

// Arrays of a model that its faults name.
const (
	modelIndex  = "matrix.index"     // U8: SHA-256 of tiles/index.json, in hexadecimal
	modelValues = "sample.values"    // F32 [drawn, drawn]
	modelError  = "sample.tolerance" // F64 scalar
	modelDrawn  = "sample.records"   // I64: the ordinals of the records drawn; absent where none were
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

// Fields lists the model.
func (m *model) Fields(f *jobs.Fields) {
	kernels.KindField(f, KindName, m.kernel, f.Has(modelDrawn, m.sample != nil && !m.sample.named))
	jobs.Make(f, &m.space).Fields(f)
	m.kernel.Fields(f, m.space)
	m.roads.Fields(f, m.kernel)
	jobs.Flag[int32](f, "matrix.symmetric", &m.symmetric)
	jobs.Tuple(f, "matrix", &m.rows, &m.columns, &m.tiles, &m.bytes)
	f.Text(modelIndex, &m.index)
	if f.Has(modelError, m.sample != nil) {
		jobs.Make(f, &m.sample).Fields(f)
	}
	f.Check(m.check)
}

func (m *model) check() error {
	sum, err := hex.DecodeString(m.index)
	switch {
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

// Fields lists the sample.
func (s *sample) Fields(f *jobs.Fields) {
	if s.named = !f.Has(modelDrawn, !s.named); s.named {
		s.identityFields(f)
	} else {
		ordinals := make([]int64, len(s.ids))
		for i, id := range s.ids {
			ordinals[i] = id.Offset
		}
		jobs.List(f, modelDrawn, &ordinals)
		s.read(f, ordinals, func(int) string { return "" })
	}
	n := len(s.ids)
	jobs.List(f, modelValues, &s.values, n, n)
	jobs.Scalar(f, modelError, &s.tolerance)
	f.Check(s.check)
}

// identityFields are the identities of the records drawn in a model of an earlier release.
func (s *sample) identityFields(f *jobs.Fields) {
	var objects jobs.Strings
	offsets := make([]int64, len(s.ids))
	for i, id := range s.ids {
		objects.Append([]byte(id.Object))
		offsets[i] = id.Offset
	}
	f.Strings("sample.objects", &objects) // of the records drawn; absent where none were
	jobs.List(f, "sample.offsets", &offsets, objects.Len())
	s.read(f, offsets, func(i int) string { return string(objects.At(i)) })
}

func (s *sample) read(f *jobs.Fields, offsets []int64, object func(i int) string) {
	if !f.Reading() {
		return
	}
	f.Require(len(offsets) <= maxSample, "a sample of %d records; there are at most %d", len(offsets), maxSample)
	for i, offset := range offsets {
		s.ids = append(s.ids, dataset.Identity{Object: object(i), Offset: offset})
	}
}

// record names a record drawn: by its number in the data set, from 0, or in models of earlier releases by its place in
// an object.
func (s *sample) record(i int) string {
	if s.named {
		return fmt.Sprintf("%d of %q", s.ids[i].Offset, s.ids[i].Object)
	}
	return fmt.Sprintf("record %d", s.ids[i].Offset)
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
