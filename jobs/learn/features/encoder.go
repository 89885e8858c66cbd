package features

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/protocol"
)

// encoder turns the categories of records into columns.
type encoder struct {
	Categories
	numeric int      // columns of the records' numbers
	names   []string // what spec.input.categorical called each column
	hasher  *hasher  // nil with dictionaries
	known   []*vocabulary.Dictionary
	from    []int // of each categorical column, the first of its own; and their number
}

// newEncoder makes the encoder of the categories counted. A column without one is a fault.
func (b *Builder) newEncoder(root *Counts) (*encoder, error) {
	e := &encoder{Categories: b.params.categories(), numeric: root.shape.width, hasher: b.categoryHasher,
		from: []int{0}}
	for k, t := range root.categories {
		name := nameOf(b.categorical, k)
		if e.hasher == nil && t.Keys.Len() == 1 && len(t.Keys.At(0)) == 0 {
			return nil, protocol.EmptyFault("the categorical column %q has no category in %s: all are missing",
				name, protocol.Counted(root.records, "training record")).
				WithHint("Leave it out of spec.input.categorical, or check spec.input.missing.")
		}
		e.names = append(e.names, name)
		if e.hasher != nil {
			e.from = append(e.from, e.from[k]+e.hasher.width())
			continue
		}
		d, err := vocabulary.NewDictionary(t.Keys)
		if err != nil {
			return nil, err
		}
		e.known, e.from = append(e.known, d), append(e.from, e.from[k]+d.Len())
	}
	if most := MaxDenseColumns - root.shape.width; !e.Sparse && e.width() > most {
		return nil, protocol.InputFault(protocol.CodeInputLimit, "categories make %d columns of dense vectors; beside those of "+
			"numbers there is room for %d", e.width(), most).
			WithHint("Set params.features.categories.sparse for a kind that takes sparse vectors, or hash the categories with " +
				"categories.bits.")
	}
	return e, nil
}

// CheckCategorical refuses a data set whose categorical columns are not those that a model was trained on, in their
// order: values of one column would count as those of another. The model may have none.
func CheckCategorical(model jobs.Arrays, given []protocol.Column) error {
	if _, ok := model[categoriesArray+".numeric"]; !ok {
		return nil
	}
	s, err := ReadSpace(model)
	if err != nil {
		return err
	}
	trained := make([]protocol.Column, len(s.encoder.names))
	for k, name := range s.encoder.names {
		trained[k].Name = name
		if number, err := strconv.Atoi(name); err == nil && k < len(given) && given[k].Name == "" {
			trained[k] = protocol.Column{Number: number}
		}
	}
	if protocol.SameColumns(trained, given) {
		return nil
	}
	return protocol.SpecFault("spec.input.categorical is %v; the model was trained on %v", given, trained).
		WithHint("List the same columns by the same names, in the same order.")
}

// width is the number of columns that categories make.
func (e *encoder) width() int { return e.from[len(e.from)-1] }

// encoding is how a space reads categories, but for what training alone asks; "" for a space without.
func (s *Space) encoding() string {
	if s.encoder == nil {
		return ""
	}
	return s.encoder.String()
}

// encoding is how parameters read categories, where there are any.
func (p Params) encoding(any bool) string {
	if !any && p.Categories == nil {
		return ""
	}
	return p.categories().String()
}

// String is the parameters for people, but for max.
func (c Categories) String() string {
	return fmt.Sprintf("of %d bits, unseen %s, sparse %t", c.Bits, c.Unseen, c.Sparse)
}

// form is that of the vectors.
func (e *encoder) form() form {
	if e.Sparse {
		return sparse
	}
	return dense
}

// column is that of a category of column k, counted from the first that categories make; false if it has none.
func (e *encoder) column(k int, category []byte) (int, bool) {
	if e.hasher != nil {
		return e.from[k] + int(e.hasher.columnOf(category)), true
	}
	i, ok := e.known[k].Lookup(category)
	return e.from[k] + int(i), ok
}

// each calls set with the columns of a record's categories, ascending.
func (e *encoder) each(id dataset.Identity, row [][]byte, set func(column int)) error {
	for k, category := range row {
		column, ok := e.column(k, category)
		switch {
		case ok:
			set(column)
		case e.Unseen != unseenZeros:
			return id.Fault("the categorical column %q has the category %.40q, which no training record has",
				e.names[k], category).
				WithHint("Train with params.features.categories.unseen: zeros to give it zeros, or on records that have it.")
		}
	}
	return nil
}

// dense appends the columns of a record to dst.
func (e *encoder) dense(dst []float32, id dataset.Identity, row [][]byte) ([]float32, error) {
	at := len(dst)
	for range e.width() {
		dst = append(dst, 0)
	}
	err := e.each(id, row, func(column int) { dst[at+column] = 1 })
	return dst, err
}

// moments sets those of the columns, and their ranges. They begin at column from of the vectors.
func (e *encoder) moments(s *Space, mean []float64, from int, tables []vocabulary.Table) {
	for j := from; j < from+e.width(); j++ {
		mean[j], s.Variance[j], s.Min[j], s.Max[j] = 0, 0, 0, 0
	}
	for k, t := range tables {
		for i, n := range t.Columns[0] {
			j := from + e.from[k] + i
			if e.hasher != nil {
				j = from + e.from[k] + int(binary.BigEndian.Uint32(t.Keys.At(i)))
			}
			share := float64(n) / float64(s.Records)
			mean[j], s.Variance[j], s.Max[j] = share, float64(share*(1-share)), 1
			if n == s.Records {
				s.Min[j] = 1
			}
		}
	}
}

// categoriesArray is an array of a space with categories, in a state or model.
const categoriesArray = "features.categories"

// Fields lists the categories.
func (e *encoder) Fields(f *jobs.Fields) {
	names := jobs.StringsOf(e.names...)
	f.Strings(categoriesArray+".names", &names)
	f.Int(categoriesArray+".numeric", &e.numeric, 0, maxMappedNumbers)
	f.Choice(categoriesArray+".unseen", &e.Unseen, unseenError, unseenZeros)
	jobs.Flag[uint8](f, categoriesArray+".sparse", &e.Sparse)
	if f.Reading() {
		e.names, e.from, e.Max = names.List(), []int{0}, maxCategories
		f.Require(len(e.names) > 0, "a feature space of no categorical column")
	}
	if f.Has(categoriesArray+".bits", e.hasher != nil) {
		jobs.Make(f, &e.hasher).categoryFields(f)
	}
	for k := range e.names {
		if e.hasher == nil {
			e.dictionaryFields(f, k)
		} else if f.Reading() {
			e.from = append(e.from, e.from[k]+e.hasher.width())
		}
	}
	if f.Reading() && e.hasher != nil {
		e.Bits = e.hasher.Bits
	}
}

// maxMappedNumbers bounds the numbers beside categories that are read from a model.
const maxMappedNumbers = 1 << 30

func (e *encoder) dictionaryFields(f *jobs.Fields, k int) {
	var list jobs.Strings
	if !f.Reading() {
		list = e.known[k].Terms
	}
	f.Strings(categoriesArray+"."+strconv.Itoa(k), &list)
	f.Check(func() error {
		d, err := vocabulary.NewDictionary(list)
		if err == nil && (!list.StrictlyAscending() || list.Len() == 0) {
			err = jobs.Malformed("categories of a feature space are not in byte order, or there are none")
		}
		e.known, e.from = append(e.known, d), append(e.from, e.from[k]+list.Len())
		return err
	})
}

// categoryFields are those of hashed categories.
func (h *hasher) categoryFields(f *jobs.Fields) {
	jobs.Enum(f, categoriesArray+".bits", &h.Bits, 1, maxCategoryBits)
	jobs.Tuple(f, categoriesArray+".key", &h.key[0], &h.key[1])
}
