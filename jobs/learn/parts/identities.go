package parts

import "github.com/gram-compute/gram/dataset"

// Identities are the columns that name the records of a table: "id" where the data set gives ids, "row" where its
// format counts rows, else "object" and "offset".
type Identities struct {
	way     dataset.Way
	texts   []string
	numbers []int64
}

// NewIdentities returns columns without rows, for records named in one way.
func NewIdentities(way dataset.Way) *Identities {
	return &Identities{way: way, texts: []string{}, numbers: []int64{}}
}

// Add adds a row.
func (c *Identities) Add(id dataset.Identity) {
	if c.way != dataset.Row {
		c.texts = append(c.texts, id.Object)
	}
	if c.way != dataset.ID {
		c.numbers = append(c.numbers, id.Offset)
	}
}

// Columns returns the columns.
func (c *Identities) Columns() Table {
	switch c.way {
	case dataset.ID:
		return Table{{Name: "id", Texts: c.texts}}
	case dataset.Row:
		return Table{{Name: "row", Ints: c.numbers}}
	}
	return Table{{Name: "object", Texts: c.texts}, {Name: "offset", Ints: c.numbers}}
}

// IdentityText is a row of these columns, as text.
func IdentityText(id dataset.Identity) []string {
	c := NewIdentities(id.Way())
	c.Add(id)
	var texts []string
	for _, column := range c.Columns() {
		texts = append(texts, column.text(0))
	}
	return texts
}
