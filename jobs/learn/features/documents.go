package features

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// documentCounter counts the records that have an entry other than 0 in each column, up to the last column met.
type documentCounter []int64

// add counts the entries of one record.
func (c *documentCounter) add(index []int32, row []float32) {
	if last := len(index) - 1; last >= 0 && int(index[last]) >= len(*c) {
		*c = append(*c, make([]int64, int(index[last])+1-len(*c))...)
	}
	for k, j := range index {
		if row[k] != 0 {
			(*c)[j]++
		}
	}
}

// documents lists the columns that occur.
func (c documentCounter) documents() (d documents) {
	for j, n := range c {
		if n > 0 {
			d.add(int32(j), n)
		}
	}
	return d
}

// documents are the columns that records have, ascending, and how many have each.
type documents struct {
	column  []int32
	records []int64
}

func (d *documents) add(column int32, records int64) {
	d.column, d.records = append(d.column, column), append(d.records, records)
}

// plus adds other records: linear in the columns of both.
func (d documents) plus(other documents) (sum documents) {
	i, j := 0, 0
	for i < len(d.column) || j < len(other.column) {
		switch {
		case j == len(other.column) || i < len(d.column) && d.column[i] < other.column[j]:
			sum.add(d.column[i], d.records[i])
			i++
		case i == len(d.column) || other.column[j] < d.column[i]:
			sum.add(other.column[j], other.records[j])
			j++
		default:
			sum.add(d.column[i], d.records[i]+other.records[j])
			i, j = i+1, j+1
		}
	}
	return sum
}

// byColumn are the records of all columns, 0 included.
func (d documents) byColumn(width int) []int64 {
	all := make([]int64, width)
	for k, j := range d.column {
		all[j] = d.records[k]
	}
	return all
}

// Fields lists the columns that occur, of width, in the records counted.
func (d *documents) Fields(f *jobs.Fields, width int, records int64) {
	jobs.List(f, "documents.column", &d.column)
	jobs.List(f, "documents.records", &d.records, len(d.column))
	f.Require(ascend(d.column), "columns of documents are not in order")
	f.Check(func() error {
		if n := len(d.column); n > 0 && (d.column[0] < 0 || int(d.column[n-1]) >= width) ||
			slices.ContainsFunc(d.records, func(n int64) bool { return n < 1 || n > records }) {
			return jobs.Malformed("documents of columns that are not of %d, or of more than %d records", width, records)
		}
		return nil
	})
}
