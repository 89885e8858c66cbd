package features

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Bounds of feature maps: a block of up to 4,096 records is mapped at a time.
const (
	maxDegree = 8
	maxMapped = 2048
)

// Mapping gives dense vectors columns that are products of theirs, before they are scaled. Degree d makes all products
// of 1 to d columns, with repetition, in the order of scikit-learn's PolynomialFeatures without its column of ones;
// Distinct leaves out those that have a column twice. Products names further products by their columns, from 1: with
// [[1, 1], [2, 2]] a linear model of x and y tells the inside of the circle x^2 + y^2 = 1 from the outside. The columns
// themselves stay in front. A product is computed in float64, from left to right, and rounded once.
type Mapping struct {
	Degree   int     `json:"degree"`
	Distinct bool    `json:"distinct"`
	Products [][]int `json:"products,omitempty"`
}

// Parameters declares the parameters.
func (m *Mapping) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Whole("degree", &m.Degree, 1, 1, maxDegree).
			Says("Most columns that are multiplied; 1 adds no products but those of products."),
		params.Flag("distinct", &m.Distinct, false).Says("Multiplies no column with itself."),
		params.Value("products", &m.Products).Missing("none").
			Says("Further products: a list of columns each, counted from 1, as [[1, 1], [2, 2]]."),
	}
}

// UnmarshalJSON writes the defaults in.
func (m *Mapping) UnmarshalJSON(data []byte) error {
	type plain Mapping
	var q Mapping
	params.Reset(q.Parameters())
	if err := protocol.StrictDecode(data, (*plain)(&q)); err != nil {
		return err
	}
	*m = q
	return nil
}

// Check rejects products that are no products.
func (m *Mapping) Check() error {
	if m.Degree == 1 && len(m.Products) == 0 {
		return protocol.SpecFault("map has degree 1 and no products: it would add nothing").
			WithHint("Set degree to 2 or more, list products, or leave map out.")
	}
	for i, columns := range m.Products {
		if len(columns) < 2 || len(columns) > maxDegree {
			return protocol.SpecFault("products[%d] has %d columns; a product is of 2 to %d", i, len(columns),
				maxDegree)
		}
		if j := slices.IndexFunc(columns, func(c int) bool { return c < 1 }); j >= 0 {
			return protocol.SpecFault("products[%d] names column %d; columns count from 1", i, columns[j])
		}
	}
	return nil
}

// equal reports whether two maps, either of which may be nil, are the same.
func (m *Mapping) equal(other *Mapping) bool {
	if m == nil || other == nil {
		return m == other
	}
	return m.Degree == other.Degree && m.Distinct == other.Distinct &&
		slices.EqualFunc(m.Products, other.Products, slices.Equal)
}

// mapper maps vectors of one width.
type mapper struct {
	Mapping
	columns int    // of the records
	powers  []term // the columns, and the products that Degree makes
}

// term is an earlier one times a column; the first are columns, times none.
type term struct{ before, column int }

// newMapper lists the mapped columns of vectors of the given width. Too many of them, or products of columns that are
// not there, are a fault.
func newMapper(m Mapping, columns int) (*mapper, error) {
	p := &mapper{Mapping: m, columns: columns}
	for j := range min(columns, maxMapped+1) {
		p.powers = append(p.powers, term{-1, j})
	}
	for degree, from, to := 2, 0, columns; degree <= m.Degree && p.width() <= maxMapped; degree++ {
		p.multiply(from, to)
		from, to = to, len(p.powers)
	}
	if p.width() > maxMapped {
		return nil, protocol.InputFault(protocol.CodeInputLimit, "a map of degree %d makes more than %d columns of %d",
			m.Degree, maxMapped, columns).
			WithHint("Lower the degree, list the products that matter, or take a kind with a polynomial kernel.")
	}
	for i, product := range m.Products {
		if j := slices.IndexFunc(product, func(c int) bool { return c > columns }); j >= 0 {
			return nil, protocol.SpecFault("spec.params: map.products[%d] names column %d; the records have %d", i,
				product[j], columns)
		}
	}
	return p, nil
}

// multiply appends the products of the terms from one to another with each column that is not before their last.
func (p *mapper) multiply(from, to int) {
	for i := from; i < to && len(p.powers) <= maxMapped; i++ {
		next := p.powers[i].column
		if p.Distinct {
			next++
		}
		for ; next < p.columns; next++ {
			p.powers = append(p.powers, term{i, next})
		}
	}
}

// width is the number of mapped columns.
func (p *mapper) width() int { return len(p.powers) + len(p.Products) }

// row appends a mapped row to dst. exact is scratch space of len(powers) numbers.
func (p *mapper) row(dst, row []float32, exact []float64) []float32 {
	for k, t := range p.powers {
		v := float64(row[t.column])
		if t.before >= 0 {
			v = float64(exact[t.before] * v)
		}
		exact[k] = v
		dst = append(dst, float32(v))
	}
	for _, product := range p.Products {
		v := 1.0
		for _, column := range product {
			v = float64(v * float64(row[column-1]))
		}
		dst = append(dst, float32(v))
	}
	return dst
}

// mapped blames the map for a value that it made.
func mapped(err error) error {
	if fault, ok := err.(*protocol.Fault); ok {
		product := fault.WithHint("A product of the record's values is beyond float32. Scale the data, or lower map.degree.")
		product.What += " after mapping"
		return product
	}
	return err
}

// mapArray is an array of a space with a map, in a state or model.
const mapArray = "features.map"

// Fields lists the map.
func (p *mapper) Fields(f *jobs.Fields) {
	f.Int(mapArray+".columns", &p.columns, 1, maxMapped)
	jobs.Enum(f, mapArray+".degree", &p.Degree, 1, maxDegree)
	jobs.Flag[uint8](f, mapArray+".distinct", &p.Distinct)
	var factors, ends []int32
	for _, product := range p.Products {
		for _, column := range product {
			factors = append(factors, int32(column))
		}
		ends = append(ends, int32(len(factors)))
	}
	jobs.List(f, mapArray+".factors", &factors)
	jobs.List(f, mapArray+".ends", &ends)
	f.Check(func() error { return p.read(factors, ends) })
}

// read makes the map of a state.
func (p *mapper) read(factors, ends []int32) error {
	m, from := p.Mapping, int32(0)
	for _, end := range ends {
		if end < from || int(end) > len(factors) {
			return jobs.Malformed("products of a feature map end at %d, after %d of %d", end, from, len(factors))
		}
		var product []int
		for _, column := range factors[from:end] {
			product = append(product, int(column))
		}
		m.Products, from = append(m.Products, product), end
	}
	if int(from) != len(factors) {
		return jobs.Malformed("%d factors of a feature map are of no product", len(factors)-int(from))
	}
	if err := params.Check(&m); err != nil {
		return jobs.Malformed("a feature map: %v", err)
	}
	read, err := newMapper(m, p.columns)
	if err != nil {
		return jobs.Malformed("a feature map: %v", err)
	}
	*p = *read
	return nil
}
