package features

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/protocol"
)

// The columns of colors are a number, three colors, and a missing category and x of the input's column 7.
func TestColumnNames(t *testing.T) {
	for _, c := range []struct {
		change func(*Categories)
		want   []string
	}{
		{nil, []string{"column 1", `color="blue"`, `color="green"`, `color="red"`, "input column 7 missing",
			`input column 7="x"`}},
		{func(c *Categories) { c.Sparse = true }, []string{"column 1", `color="blue"`, `color="green"`, `color="red"`,
			"input column 7 missing", `input column 7="x"`}},
		{func(c *Categories) { c.Bits = 1 }, []string{"column 1", "color hash 1 of 2", "color hash 2 of 2",
			"input column 7 hash 1 of 2", "input column 7 hash 2 of 2"}},
	} {
		model, err := categorySpace(t, categoryParams(ScaleNone, c.change), colors(), 3, jobstest.Grouping{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := ReadSpace(model)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for j := range s.Width {
			got = append(got, s.ColumnName(j))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
		if numbers, names := s.Categorical(); numbers != 1 || !slices.Equal(names, []string{"color", "7"}) {
			t.Errorf("%d numbers, %q", numbers, names)
		}
	}
	words, err := OfWords(jobs.StringsOf("bad", "good"), vocabulary.DefaultParams(), jobs.StringsOf("n", "p"))
	if err != nil || words.ColumnName(1) != `"good"` {
		t.Errorf("%+v, %v", words, err)
	}
	if numbers, names := words.Categorical(); numbers != 0 || names != nil {
		t.Errorf("%d, %q", numbers, names)
	}
}

// Two columns of 2^13 hashed ones are too many for dense vectors, and 2^12 are not; sparse ones have up to 2^31-1.
func TestHashedCategoriesRefusedAtSubmit(t *testing.T) {
	for _, c := range []struct {
		bits, columns int
		sparse        bool
		refused       string
	}{
		{12, 2, false, ""}, {13, 2, false, "make 16384 columns of dense vectors, which have up to 8192"},
		{13, 1, false, ""}, {20, 1, false, "1048576 columns of dense vectors"}, {20, 2047, true, ""},
		{20, 2048, true, "make 2147483648 columns of sparse vectors"}, {0, 9000, false, ""}, {20, 0, false, ""},
	} {
		spec := protocol.JobSpec{}
		for k := range c.columns {
			spec.Spec.Input.Categorical = append(spec.Spec.Input.Categorical, protocol.Column{Number: k + 1})
		}
		p := categoryParams(ScaleNone, func(of *Categories) { of.Bits, of.Sparse = c.bits, c.sparse })
		_, err := NewBuilder(p, spec)
		var fault *protocol.Fault
		if c.refused == "" && err != nil || c.refused != "" && (!errors.As(err, &fault) ||
			fault.Code != protocol.CodeSpecInvalid || !strings.Contains(fault.What, c.refused)) {
			t.Errorf("%+v: %v", c, err)
		}
		p.Map = &Mapping{Degree: 2}
		if _, err := NewBuilder(p, spec); (err == nil) != (c.columns == 0) {
			t.Errorf("%+v with a map: %v", c, err)
		}
		if want := max(int64(c.columns), p.hashedCategories(c.columns)); p.LeastWidth(spec.Spec.Input) != want {
			t.Errorf("%+v: the width is at least %d", c, p.LeastWidth(spec.Spec.Input))
		}
	}
}
