package features

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// A few columns dominate when they make this share of the squared distances and are at most one in that many, or one.
const (
	dominantShare = 0.99
	dominantOneIn = 10
	namedColumns  = 5
)

// Compares is for kinds that compare whole vectors, by distances or by dot products. Where columns are not scaled and
// few of them decide, the phase warns.
func Compares() Option { return ComparesBy("spec.params.features.scale") }

// ComparesBy is Compares of a kind whose parameter that scales has another path.
func ComparesBy(field string) Option { return func(b *Builder) { b.scaleField = field } }

// dominance warns of few columns that make nearly all of the squared distances between records (the mean of those is
// twice the sum of the columns' variances), and where no column varies. No model depends on it.
func (b *Builder) dominance(s *Space) ([]jobs.Metric, error) {
	if b.scaleField == "" || s.scale != ScaleNone || s.Variance == nil {
		return nil, nil
	}
	var varying []int
	total := 0.0
	for j, v := range s.Variance {
		if v > 0 {
			varying, total = append(varying, j), total+v
		}
	}
	// total order: the variance, then the column's number.
	slices.SortFunc(varying, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.Variance[b], s.Variance[a]), cmp.Compare(a, b))
	})
	few, sum := 0, 0.0
	for few < len(varying) && !(sum >= dominantShare*total) {
		sum += s.Variance[varying[few]]
		few++
	}
	var text string
	switch {
	case len(varying) == 0 && s.Records > 1:
		text = "every column is constant over the training records: no distance tells them apart. " +
			"Check the columns of spec.input"
	case len(varying) < 2 || few > max(1, len(varying)/dominantOneIn):
		return nil, nil
	default:
		text = b.dominanceText(varying[:few], sum/total)
	}
	m, err := jobs.NewMetric(jobs.WarningsMetric, []string{text})
	return []jobs.Metric{m}, err
}

// dominanceText names the columns that make a share, the greatest first.
func (b *Builder) dominanceText(few []int, share float64) string {
	var names []string
	for _, j := range few[:min(len(few), namedColumns)] {
		names = append(names, fmt.Sprint(j+1))
	}
	list, verb := "column "+names[0], "makes"
	if len(few) > 1 {
		list, verb = "columns "+strings.Join(names, ", "), "make"
	}
	if len(few) > namedColumns {
		list += " and others"
	}
	return fmt.Sprintf("%s of the vector %s %.4g %% of the squared Euclidean distances between records; "+
		"the others hardly count. Set %s: standard if they should", list, verb, float64(100*share), b.scaleField)
}
