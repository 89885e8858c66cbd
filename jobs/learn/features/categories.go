package features

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// What becomes of a category that no training record has.
const (
	unseenError = "error"
	unseenZeros = "zeros"
)

// Bounds of categories. A block has up to 4,096 dense vectors.
const (
	defaultCategories = 1024
	maxCategories     = 1 << 20
	maxCategoryBits   = 20
)

// MaxDenseColumns bounds dense vectors with categories, the columns of numbers included.
const MaxDenseColumns = 8192

// Categories say which numbers the columns of spec.input.categorical become. Each column becomes one column of 0 and 1
// for each of its categories in the training records, in byte order; or, with Bits, 2^Bits columns by hash. They stand
// behind those of the numbers, in the order of spec.input.categorical. A missing category is the category "".
type Categories struct {
	Bits   int    `json:"bits"`
	Max    int    `json:"max"`
	Unseen string `json:"unseen"`
	Sparse bool   `json:"sparse"`
}

// Parameters declares the parameters.
func (c *Categories) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Whole("bits", &c.Bits, 0, 0, maxCategoryBits).
			Says("Gives each column 2^bits columns by hash, in place of one for each category; 0 for one each."),
		params.Whole("max", &c.Max, defaultCategories, 1, maxCategories).
			Says("Most categories of a column in the training records; more are an error. Hashed columns have no bound."),
		params.Choice("unseen", &c.Unseen, unseenError, unseenError, unseenZeros).
			Says("What becomes of a category that no training record has: an error, or zeros in all columns of its own, " +
				"which the report counts and warns of."),
		params.Flag("sparse", &c.Sparse, false).
			Says("Makes sparse vectors, for kinds that take them: memory by the columns that are not 0."),
	}
}

// UnmarshalJSON writes the defaults in.
func (c *Categories) UnmarshalJSON(data []byte) error {
	type plain Categories
	q := DefaultCategories()
	if err := protocol.StrictDecode(data, (*plain)(&q)); err != nil {
		return err
	}
	*c = q
	return nil
}

// DefaultCategories are those of an empty section.
func DefaultCategories() (c Categories) {
	params.Reset(c.Parameters())
	return c
}

// categories are the parameters, or the defaults.
func (p Params) categories() Categories {
	if p.Categories == nil {
		return DefaultCategories()
	}
	return *p.Categories
}

// checkCategories refuses what cannot be made of records with categories, or of others.
func (p Params) checkCategories(columns int) error {
	c := p.categories()
	switch {
	case columns == 0 && p.Categories != nil:
		return protocol.SpecFault("spec.params: categories is of the columns spec.input.categorical, of which there are none")
	case columns == 0:
		return nil
	case p.Map != nil:
		return protocol.SpecFault("spec.params: map multiplies columns before their categories are known; leave it out " +
			"with spec.input.categorical")
	case p.Scale == ScaleL2 && !c.Sparse:
		return protocol.SpecFault("spec.params: scale l2 scales rows before their categories are known; with " +
			"spec.input.categorical it takes categories.sparse")
	case c.Sparse && (p.Scale == ScaleMinMax || p.Scale == ScaleRobust):
		return protocol.SpecFault("spec.params: scale %s would fill sparse vectors; use maxabs, standard or l2",
			p.Scale)
	}
	return nil
}

// checkSubmitted refuses at submission what columns of categories would be refused for once records were read.
func (p Params) checkSubmitted(columns int) error {
	if columns == 0 {
		return nil
	}
	if fault, ok := errors.AsType[*protocol.Fault](p.checkCategories(columns)); ok {
		named := *fault
		named.What = strings.TrimPrefix(fault.What, "spec.params: ") // the kind names them
		return &named
	}
	width, most, of, hint := p.hashedCategories(columns), int64(MaxDenseColumns), "dense", "Lower categories.bits, or set "+
		"categories.sparse for a kind that takes sparse vectors."
	if p.categories().Sparse {
		most, of, hint = math.MaxInt32, "sparse", "Lower categories.bits."
	}
	if width <= most {
		return nil
	}
	return protocol.SpecFault("categories.bits is %d: %d columns of spec.input.categorical make %d columns of %s vectors, which "+
		"have up to %d", p.categories().Bits, columns, width, of, most).WithHint(hint)
}

// hashedCategories is how many columns hashed categories make; 0 if they are not hashed.
func (p Params) hashedCategories(columns int) int64 {
	if bits := p.categories().Bits; bits > 0 {
		return int64(columns) << bits
	}
	return 0
}

// LeastWidth is a lower bound on the width of the vectors of a data set, which follows from the spec: hashed terms and
// categories have as many columns as their bits say, other categorical columns have one at least. It is 0 where nothing
// is known before records are read.
func (p Params) LeastWidth(in protocol.Input) int64 {
	columns := len(in.Categorical)
	switch {
	case p.Hashing != nil:
		return 1 << p.Hashing.Bits
	case columns > 0:
		return max(p.hashedCategories(columns), int64(columns))
	}
	return int64(in.Width)
}

// categoryCounter counts the records of each category, by column; of hashed ones those of each hashed column.
type categoryCounter struct {
	params  Categories
	hasher  *hasher // nil with a dictionary
	names   []string
	columns []*vocabulary.Counter
}

func (b *Builder) newCategoryCounter(columns int) *categoryCounter {
	c := &categoryCounter{params: b.params.categories(), hasher: b.categoryHasher, names: b.categorical}
	for range columns {
		c.columns = append(c.columns, vocabulary.NewCounter())
	}
	return c
}

// add counts a record.
func (c *categoryCounter) add(row [][]byte) error {
	for k, category := range row {
		if c.hasher != nil {
			category = hashedKey(c.hasher.columnOf(category))
		}
		if c.columns[k].Add(category); c.hasher == nil && c.columns[k].Len() > c.params.Max {
			return c.tooMany(k)
		}
	}
	return nil
}

func (c *categoryCounter) tooMany(k int) error { return tooManyCategories(c.names, k, c.params.Max) }

// tooManyCategories is the fault of column k. Its text is the same wherever the count passes the bound.
func tooManyCategories(names []string, k, most int) error {
	return protocol.InputFault(protocol.CodeInputLimit,
		"the categorical column %q has more than %d categories in the training records", nameOf(names, k), most).
		WithHint("Raise params.features.categories.max, hash the categories with categories.bits, or leave the column out " +
			"of spec.input.categorical: ids and numbers are no categories.")
}

// nameOf is what the spec calls a categorical column, counted from 0.
func nameOf(names []string, k int) string {
	if k < len(names) {
		return names[k]
	}
	return "unknown"
}

// tables are the categories in byte order, with their records.
func (c *categoryCounter) tables() []vocabulary.Table {
	if c == nil {
		return nil
	}
	var all []vocabulary.Table
	for _, counter := range c.columns {
		t := counter.Table()
		t.Columns = t.Columns[:1]
		all = append(all, t)
	}
	return all
}

// mergeCategories adds the tables of other records.
func (b *Builder) mergeCategories(left, right []vocabulary.Table) ([]vocabulary.Table, error) {
	var all []vocabulary.Table
	for k := range left {
		sum := vocabulary.Merge(left[k], right[k])
		if most := b.params.categories().Max; b.categoryHasher == nil && sum.Keys.Len() > most {
			return nil, tooManyCategories(b.categorical, k, most)
		}
		all = append(all, sum)
	}
	return all, nil
}

// checkTable refuses a table that no records have.
func (b *Builder) checkTable(t vocabulary.Table, records int64) error {
	total, h := int64(0), b.categoryHasher
	for i, n := range t.Columns[0] {
		key := t.Keys.At(i)
		bad := h != nil && (len(key) != 4 || int64(binary.BigEndian.Uint32(key)) >= int64(h.width()))
		if n < 1 || n > records-total || bad {
			return jobs.Malformed("a partial of categories that %d records do not have", records)
		}
		total += n
	}
	if total != records {
		return jobs.Malformed("a partial of %d records with %d categories of a column", records, total)
	}
	return nil
}

// hashedKey is a hashed column as the key of a table, whose order is that of columns.
func hashedKey(column int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(column)) }

// columnOf is the hashed column of a category.
func (h *hasher) columnOf(category []byte) int32 {
	column, _ := h.column(h.hash(category))
	return column
}
