package features

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// Variances 1 and 99 are the edge: 99 % of 100. Of 20 columns two may dominate, of 19 one.
func TestDominanceByHand(t *testing.T) {
	wide := func(n int, large ...float64) []float64 {
		v := make([]float64, n)
		for j := range v {
			v[j] = 1e-3
		}
		copy(v, large)
		return v
	}
	for name, c := range map[string]struct {
		variance     []float64
		scale, field string
		want         string
	}{
		"at the share": {[]float64{1, 99}, ScaleNone, "spec.params.scale", "column 2 of the vector makes 99 % of the " +
			"squared Euclidean distances between records; the others hardly count. " +
			"Set spec.params.scale: standard if they should"},
		"below it":             {[]float64{1, 98.9}, ScaleNone, "spec.params.scale", ""},
		"a constant column":    {[]float64{0, 99}, ScaleNone, "spec.params.scale", ""},
		"none varies":          {[]float64{0, 0}, ScaleNone, "spec.params.scale", "every column is constant"},
		"scaled":               {[]float64{1, 99}, ScaleStandard, "spec.params.scale", ""},
		"vectors not compared": {[]float64{1, 99}, ScaleNone, "", ""},
		"sparse":               {nil, ScaleNone, "spec.params.scale", ""},
		"two of twenty":        {wide(20, 50, 60), ScaleNone, "f", "columns 2, 1 of the vector make 99.98 %"},
		"two of nineteen":      {wide(19, 50, 60), ScaleNone, "f", ""},
		"more than can be named": {wide(60, 9, 9, 9, 9, 9, 9), ScaleNone, "f",
			"columns 1, 2, 3, 4, 5 and others of the vector make"},
	} {
		p := &Builder{}
		if c.field != "" {
			ComparesBy(c.field)(p)
		}
		found, err := p.dominance(&Space{Records: 2, Variance: c.variance, scale: c.scale})
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want == "" && len(found) != 0:
			t.Errorf("%s: %s", name, found[0].Value)
		case c.want == "":
		case len(found) != 1 || found[0].Name != jobs.WarningsMetric ||
			!strings.Contains(string(found[0].Value), c.want):
			t.Errorf("%s: %+v, want %q", name, found, c.want)
		}
	}
}
