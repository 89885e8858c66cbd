package parts

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
)

func TestIdentities(t *testing.T) {
	for _, c := range []struct {
		id    dataset.Identity
		csv   string
		cells []string
	}{
		{dataset.ByID("a,b"), "id\n\"a,b\"\n", []string{"a,b"}},
		{dataset.ByRow(17), "row\n17\n", []string{"17"}},
		{dataset.ByPlace("a.csv", 17), "object,offset\na.csv,17\n", []string{"a.csv", "17"}},
	} {
		columns := NewIdentities(c.id.Way())
		columns.Add(c.id)
		if got, err := columns.Columns().Encode(CSV); err != nil || string(got) != c.csv {
			t.Errorf("%v: %q, %v; want %q", c.id, got, err, c.csv)
		}
		if got := IdentityText(c.id); !slices.Equal(got, c.cells) {
			t.Errorf("%v: %q, want %q", c.id, got, c.cells)
		}
		if empty := NewIdentities(c.id.Way()).Columns(); empty.Rows() != 0 || len(empty) != len(c.cells) {
			t.Errorf("%v: %d columns of %d rows", c.id, len(empty), empty.Rows())
		}
	}
}
