package runreport

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/onevsone"
)

// pairsOf are the pairs of classes, of 200 records each; pair number i has i errors.
func pairsOf(t *testing.T, labels ...string) []jobs.Metric {
	t.Helper()
	var pairs []onevsone.Pair
	for i, first := range labels {
		for _, second := range labels[i+1:] {
			n := int64(len(pairs))
			pairs = append(pairs, onevsone.Pair{First: first, Second: second, Records: 200, Errors: n,
				ErrorPercent: float64(n) / 2})
		}
	}
	value, err := json.Marshal(pairs)
	if err != nil {
		t.Fatal(err)
	}
	return []jobs.Metric{{Name: "pairs", Value: value}}
}

func printedPairs(t *testing.T, metrics []jobs.Metric) string {
	t.Helper()
	var out strings.Builder
	printPairs(&out, metrics)
	return out.String()
}

func TestPairsAsSquare(t *testing.T) {
	want := `
errors of every two classes: below the diagonal how many, above it in percent
     cat   dog    ox
cat    -  0.00  0.50
dog    0     -  1.00
ox     1     2     -
`
	if got := printedPairs(t, pairsOf(t, "cat", "dog", "ox")); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := printedPairs(t, nil); got != "" {
		t.Errorf("a job without pairs prints %q", got)
	}
}

// The 45 pairs of ten digits fit; those of more classes than fit are a list of the worst.
func TestPairsFitATerminal(t *testing.T) {
	for classes, want := range map[int]string{10: "22.00", 40: "the 30 of 780 pairs"} {
		var labels []string
		for i := range classes {
			labels = append(labels, fmt.Sprint(i))
		}
		got := printedPairs(t, pairsOf(t, labels...))
		if !strings.Contains(got, want) {
			t.Errorf("%d classes print\n%s", classes, got)
		}
		for line := range strings.Lines(got) {
			if len(line) > 81 {
				t.Errorf("%d columns: %s", len(line)-1, line)
			}
		}
	}
}

func TestCertificateRows(t *testing.T) {
	rows := certificateRows(json.RawMessage(`{"least_eigenvalue":-1.8716182294e-7,"holds":true,"deep":[[1]]}`))
	if want := "[[certificate.least_eigenvalue -1.87162e-07] [certificate.holds true]]"; fmt.Sprint(rows) != want {
		t.Errorf("%v, want %s", rows, want)
	}
	if rows := append(certificateRows(nil), certificateRows(json.RawMessage(`[1]`))...); len(rows) != 0 {
		t.Errorf("rows of no certificate: %v", rows)
	}
}
