package describe_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gram-compute/gram/jobs/learn/describe"
)

func TestClasses(t *testing.T) {
	labels := []string{"ant", "bee", "cat", "dog"}
	for _, c := range []struct {
		names []string
		few   int
		want  []int
	}{{nil, 2, []int{0, 1}}, {nil, 9, []int{0, 1, 2, 3}}, {[]string{"dog", "ant"}, 1, []int{3, 0}}} {
		if got, err := describe.Classes(labels, c.names, c.few); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v, %d: %v, %v", c.names, c.few, got, err)
		}
	}
	for name, want := range map[string]string{"bea": `SPEC_INVALID: the model has no class "bea". Did you mean "bee"?`,
		"elephant": `SPEC_INVALID: the model has no class "elephant". Its classes: "ant", "bee", "cat", "dog".`} {
		if _, err := describe.Classes(labels, []string{name}, 2); err == nil || err.Error() != want {
			t.Error(err)
		}
	}
}

// Lines have at most 80 columns, and nothing but what is clipped is lost.
func TestWrap(t *testing.T) {
	words := slices.Repeat([]string{"four", "sëven7c", strings.Repeat("x", 76)}, 5)
	var b strings.Builder
	describe.Wrap(&b, words)
	if got := strings.Fields(b.String()); !slices.Equal(got, words) {
		t.Errorf("%q", got)
	}
	b.Reset()
	describe.Wrap(&b, append(words, strings.Repeat("é", 90)))
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > describe.Width ||
			!strings.HasPrefix(line, "  ") {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if !strings.HasSuffix(b.String(), "é...\n") {
		t.Errorf("%q", b.String())
	}
	if got := describe.Clip("äbcdef", 5); got != "äb..." {
		t.Error(got)
	}
}
