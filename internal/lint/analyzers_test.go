package lint_test

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gram-compute/gram/internal/lint"
)

// TestAnalyzers runs each typed rule over bad and good code: testdata/src/NAME marks
// with "want" what must be found, and nothing else may be.
func TestAnalyzers(t *testing.T) {
	for _, a := range []*analysis.Analyzer{
		lint.Products, lint.MathCalls, lint.FloatToInt, lint.MapOrder, lint.TotalOrder,
		lint.Sources, lint.Pure, lint.NoFloats,
	} {
		t.Run(a.Name, func(t *testing.T) {
			analysistest.Run(t, analysistest.TestData(), a, a.Name)
		})
	}
}
