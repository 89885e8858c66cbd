package describe_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
)

func TestClasses(t *testing.T) {
	labels := []string{"ant", "bee", "cat", "dog"}
	for _, c := range []struct {
		names []string
		few   int
		want  []int
	}{{nil, 2, []int{0, 1}}, {nil, 9, []int{0, 1, 2, 3}}, {[]string{"dog", "ant"}, 1, []int{3, 0}}} {
		p := describe.Page{Names: c.names}
		if got, err := p.Classes(labels, c.few); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v, %d: %v, %v", c.names, c.few, got, err)
		}
	}
	for name, want := range map[string]string{"bea": `SPEC_INVALID: the model has no class "bea". Did you mean "bee"?`,
		"elephant": `SPEC_INVALID: the model has no class "elephant". Its classes: "ant", "bee", "cat", "dog".`} {
		p := describe.Page{Names: []string{name}}
		if _, err := p.Classes(labels, 2); err == nil || err.Error() != want {
			t.Error(err)
		}
	}
}

// Lines have at most 80 columns, and nothing but what is clipped is lost.
func TestWords(t *testing.T) {
	words := slices.Repeat([]string{"four", "sëven7c", strings.Repeat("x", 75)}, 5)
	var b describe.Page
	b.Words(slices.Clone(words))
	if got, want := strings.Fields(b.String()), strings.Join(words, ", "); strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
	b.Reset()
	b.Words(append(words, strings.Repeat("é", 90)))
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > describe.Width ||
			!strings.HasPrefix(line, "  ") {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if !strings.HasSuffix(b.String(), "é...\n") {
		t.Errorf("%q", b.String())
	}
	read := func(jobs.Arrays) (int, error) { return 0, nil }
	text, err := describe.Of(read, func(_ int, p *describe.Page) error {
		p.Line("name", "%s", strings.Repeat("x", 70))
		p.Table(slices.Repeat([]string{"label"}, 22), strconv.Itoa)
		p.Shown("%d of %d", p.Few(3), 5)
		return nil
	})(nil, jobs.DescribeOptions{Top: -1})
	head := "name         " + strings.Repeat("x", 64) + "...\nlabel                    0\n"
	tail := "label                    19\nand 2 more\n\n3 of 5 shown; name others to see them.\n"
	if err != nil || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
		t.Errorf("%s %v", text, err)
	}
	if got := describe.Clip("äbcdef", 5); got != "äb..." {
		t.Error(got)
	}
}
