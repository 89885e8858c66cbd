package inspect

import (
	"bytes"
	"context"
	"math"
	"strconv"

	"github.com/gram-compute/gram/dataset"
)

// Bounds of what a survey counts.
const (
	maxColumns  = 4096 // of dense vectors, from the first
	maxDistinct = 256  // values of a column
	maxLabels   = 1000
	maxSkipped  = 100 // bad records that are named
)

// Survey says what the records of a data set are. Distinct values are counted exactly up to a bound; beyond, the count
// is nil.
type Survey struct {
	URI        string         `json:"uri"`
	Format     string         `json:"format"`
	Objects    int            `json:"objects"`
	Shards     int            `json:"shards"`
	Bytes      int64          `json:"bytes"`
	Records    int64          `json:"records"`
	Bad        int64          `json:"skipped_records"`   // that spec.input lets pass
	Skipped    []dataset.Skip `json:"skipped,omitempty"` // the first 100 of them
	Labels     *Labels        `json:"labels,omitempty"`
	Weights    *Range         `json:"weights,omitempty"`
	Groups     *int           `json:"groups,omitempty"` // of spec.input.split.group; nil beyond the bound, too
	Categories []*Category    `json:"categories,omitempty"`
	Width      int            `json:"width,omitempty"`
	Columns    []*Column      `json:"columns,omitempty"` // of dense vectors, the first 4,096
	Sparse     *Sparse        `json:"sparse,omitempty"`
	Texts      *Texts         `json:"texts,omitempty"`
	Drawn      []*Record      `json:"-"` // a few, drawn by the seed

	groups map[uint64]bool
	labels map[string]int64
	used   map[int32]bool
	values []map[uint32]bool // of each column
}

// Range is of numbers that are not missing.
type Range struct {
	Min   *float64 `json:"min"` // nil without a number
	Max   *float64 `json:"max"`
	Mean  *float64 `json:"mean"`
	n     int64
	total float64
}

func (r *Range) add(v float64) {
	if r.n == 0 {
		low, high := v, v
		r.Min, r.Max = &low, &high
	}
	*r.Min, *r.Max = min(*r.Min, v), max(*r.Max, v)
	r.n++
	r.total += v
}

// end leaves the mean; sums are those of the order of the records.
func (r *Range) end() {
	if r.n > 0 {
		mean := r.total / float64(r.n)
		r.Mean = &mean
	}
}

// Column is a column of dense vectors.
type Column struct {
	Column   int    `json:"column"` // of the vector, from 1
	Name     string `json:"name,omitempty"`
	Whole    bool   `json:"whole"` // all values are whole numbers
	Missing  int64  `json:"missing"`
	Zeros    int64  `json:"zeros"`
	Distinct *int   `json:"distinct"` // nil beyond 256
	Range
}

// Labels are the labels of records.
type Labels struct {
	Distinct *int    `json:"distinct"` // nil beyond 1,000
	Numbers  bool    `json:"numbers"`  // all of them are
	Range    *Range  `json:"range,omitempty"`
	Classes  []Class `json:"classes,omitempty"` // by records, then in byte order
}

// Class is a label with its records.
type Class struct {
	Label   string `json:"label"`
	Records int64  `json:"records"`
}

// Sparse says how full sparse vectors are.
type Sparse struct {
	Entries Range `json:"entries"` // of a record: the numbers that are not 0
	Total   int64 `json:"total"`
	Zeros   int64 `json:"written_zeros,omitempty"` // that the data set writes out; they are no entries
	Used    *int  `json:"used_columns"`            // nil beyond 2^20
	Values  Range `json:"values"`
}

// Texts says how long texts are.
type Texts struct {
	Bytes Range `json:"bytes"`
	Words Range `json:"words"` // what white space separates
	Empty int64 `json:"empty"`
}

// Survey reads all records, and keeps a few of them, drawn by the seed. Memory is bounded by the width of the vectors.
func (o *Opened) Survey(ctx context.Context, seed uint64, few int) (*Survey, error) {
	s := &Survey{URI: o.input.URI, Format: o.input.Format, Objects: o.Objects, Shards: o.Shards, Bytes: o.Bytes,
		labels: map[string]int64{}, used: map[int32]bool{}, groups: map[uint64]bool{}}
	drawn := newDraw(seed, few, o.indexBase())
	for block, err := range o.blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if err := s.add(block); err != nil {
			return nil, err
		}
		drawn.add(block)
	}
	s.Drawn = drawn.records()
	for k, c := range s.Categories {
		c.end(o.input.Categorical[k])
		if at := len(o.Names) - len(s.Categories) + k; o.input.Categorical[k].Name == "" && at >= 0 {
			c.Name = o.Names[at]
		}
	}
	s.end(o.Names)
	return s, nil
}

func (s *Survey) add(block *dataset.Block) error {
	s.Bad += int64(len(block.Skipped))
	s.Skipped = append(s.Skipped, block.Skipped[:min(len(block.Skipped), maxSkipped-len(s.Skipped))]...)
	if len(block.IDs) == 0 {
		return nil
	}
	s.Records += int64(len(block.IDs))
	for _, label := range block.Labels {
		s.addLabel(label)
	}
	s.addCategories(block.Categories)
	for _, w := range block.Weights {
		made(&s.Weights).add(float64(w))
	}
	for _, g := range block.Groups {
		if s.groups != nil {
			if s.groups[g] = true; len(s.groups) > 1<<20 {
				s.groups = nil
			}
		}
	}
	for _, text := range block.Texts {
		t := made(&s.Texts)
		t.Bytes.add(float64(len(text)))
		t.Words.add(float64(len(bytes.Fields(text))))
		if len(bytes.TrimSpace(text)) == 0 {
			t.Empty++
		}
	}
	s.addSparse(block)
	return s.addDense(block)
}

// made makes what is not there yet.
func made[T any](at **T) *T {
	if *at == nil {
		*at = new(T)
	}
	return *at
}

func (s *Survey) addLabel(label []byte) {
	if s.Labels == nil {
		s.Labels = &Labels{Numbers: true, Range: &Range{}}
	}
	if s.Labels.Numbers {
		v, err := strconv.ParseFloat(string(label), 64)
		if s.Labels.Numbers = err == nil && !math.IsNaN(v) && !math.IsInf(v, 0); s.Labels.Numbers {
			s.Labels.Range.add(v)
		}
	}
	if s.labels != nil {
		if s.labels[string(label)]++; len(s.labels) > maxLabels {
			s.labels = nil
		}
	}
}

func (s *Survey) addDense(block *dataset.Block) error {
	width := block.Dense.Width
	if width == 0 {
		return nil
	}
	if s.Width != 0 && s.Width != width {
		return block.IDs[0].Fault("a vector of %d columns, and those before have %d", width, s.Width).
			WithHint("All records of a data set have the same columns.")
	}
	if s.Width = width; s.Columns == nil {
		for j := range min(width, maxColumns) {
			s.Columns = append(s.Columns, &Column{Column: j + 1, Whole: true})
			s.values = append(s.values, map[uint32]bool{})
		}
	}
	for i := range block.IDs {
		row := block.Dense.Row(i)
		for j, c := range s.Columns {
			s.addValue(c, j, row[j])
		}
	}
	return nil
}

func (s *Survey) addValue(c *Column, j int, v float32) {
	if v != v {
		c.Missing++
		return
	}
	if v == 0 {
		c.Zeros++
		v = 0 // one zero
	}
	c.add(float64(v))
	c.Whole = c.Whole && math.Trunc(float64(v)) == float64(v)
	if s.values[j] != nil {
		if s.values[j][math.Float32bits(v)] = true; len(s.values[j]) > maxDistinct {
			s.values[j] = nil
		}
	}
}

func (s *Survey) addSparse(block *dataset.Block) {
	if block.Sparse.Width == 0 {
		return
	}
	s.Width = max(s.Width, block.Sparse.Width)
	sparse := made(&s.Sparse)
	for i := range block.IDs {
		index, values := block.Sparse.Row(i)
		entries := int64(0)
		for k, v := range values {
			if v == 0 {
				sparse.Zeros++
				continue
			}
			entries++
			sparse.Values.add(float64(v))
			if s.used != nil {
				if s.used[index[k]] = true; len(s.used) > 1<<20 {
					s.used = nil
				}
			}
		}
		sparse.Entries.add(float64(entries))
		sparse.Total += entries
	}
}

// end finishes the counts.
func (s *Survey) end(names []string) {
	for j, c := range s.Columns {
		c.end()
		if len(names) == s.Width+len(s.Categories) { // those of the vectors come first
			c.Name = names[j]
		}
		c.Distinct = counted(s.values[j])
	}
	if s.Weights != nil {
		s.Weights.end()
	}
	if s.Sparse != nil {
		s.Sparse.Entries.end()
		s.Sparse.Values.end()
		s.Sparse.Used = counted(s.used)
	}
	if s.Texts != nil {
		s.Texts.Bytes.end()
		s.Texts.Words.end()
	}
	if len(s.groups) > 0 {
		s.Groups = counted(s.groups)
	}
	if s.Labels == nil {
		return
	}
	if s.Labels.Range.end(); !s.Labels.Numbers {
		s.Labels.Range = nil
	}
	if s.Labels.Distinct = counted(s.labels); s.labels == nil {
		return
	}
	s.Labels.Classes = classesOf(s.labels)
}

// counted is how many there are, nil if they were given up.
func counted[K comparable, V any](of map[K]V) *int {
	if of == nil {
		return nil
	}
	n := len(of)
	return &n
}
