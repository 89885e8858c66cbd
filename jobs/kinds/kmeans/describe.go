package kmeans

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/protocol"
)

const (
	describeClusters = 20 // largest shown unless named
	describeTop      = 6  // coordinates of a center unless told
)

// Describe tells people what a model is, within 80 columns: how training ended, and for each cluster its size, its
// radius (the root of the mean squared distance), the label met most in it, and the coordinates in which its center
// is farthest from the mean of the data. Classes of the options name clusters by number.
func Describe(arrays jobs.Arrays, opt jobs.DescribeOptions) (string, error) {
	m, err := readModel(arrays)
	if err != nil {
		return "", err
	}
	clusters, err := m.pickClusters(opt.Classes)
	if err != nil {
		return "", err
	}
	top := opt.Top
	if top <= 0 {
		top = describeTop
	}
	var b strings.Builder
	m.describeHead(&b)
	for _, j := range clusters {
		m.describeCluster(&b, j, top)
	}
	if len(opt.Classes) == 0 && len(clusters) < m.clusters() {
		fmt.Fprintf(&b, "\nThe %d largest of %d clusters shown; name others to see them.\n", len(clusters),
			m.clusters())
	}
	return b.String(), nil
}

func (m *model) describeHead(b *strings.Builder) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%-12s %s\n", name, describe.Clip(fmt.Sprintf(format, args...), describe.Width-13))
	}
	line("kind", "%s (%s)", KindName, m.metric)
	line("clusters", "%d", m.clusters())
	line("records", "%d training records of %d columns, scale %s", m.space.Records, m.space.Width, m.space.Scale())
	line("distortion", "%.6g", m.distortion())
	line("training", "init %s; %d rounds of restart %d; stopped by %s", m.init, m.rounds, m.restart, m.stop)
	if c, ok := m.agreement(); ok {
		line("labels", "%d; adjusted Rand index %.4f, mutual information %.4f", m.space.Labels.Len(), c.adjustedRand(),
			c.normalizedMutualInformation())
	}
	if m.silhouette != noSilhouette {
		line("silhouette", "%.4f on a sample", m.silhouette)
	}
}

func (m *model) describeCluster(b *strings.Builder, j, top int) {
	radius := 0.0
	if m.weight[j] > 0 {
		radius = math.Sqrt(m.cost[j] / m.weight[j])
	}
	fmt.Fprintf(b, "\ncluster %d (%d records, radius %.4g)\n", j, m.records[j], radius)
	if label, n := m.mostLabel(j); n > 0 {
		share := 100 * float64(n) / float64(max(1, m.records[j]))
		fmt.Fprintf(b, "  mostly %s\n", describe.Clip(fmt.Sprintf("%s (%.0f %%)", quote(label), share),
			describe.Width-10))
	}
	words := m.coordinates(j, top)
	for i, word := range words {
		if i < len(words)-1 {
			words[i] = word + ","
		}
	}
	describe.Wrap(b, words)
}

// mostLabel is the label met most in a cluster, the first of equals.
func (m *model) mostLabel(j int) (label string, records int64) {
	for l := range m.space.Labels.Len() {
		if n := m.labels[l*m.clusters()+j]; n > records {
			label, records = string(m.space.Labels.At(l)), n
		}
	}
	return label, records
}

// coordinates names the columns in which a center is farthest from the mean of the data, and its values there.
func (m *model) coordinates(j, top int) []string {
	center, columns := m.centers[j*m.space.Width:(j+1)*m.space.Width], make([]int, m.space.Width)
	from := origin(m.space)
	for i := range columns {
		columns[i] = i
	}
	off := func(i int) float64 { return math.Abs(center[i] - float64(from[i])) }
	// total order: columns differ
	slices.SortFunc(columns, func(x, y int) int { return cmp.Or(cmp.Compare(off(y), off(x)), cmp.Compare(x, y)) })
	var words []string
	for _, i := range columns[:min(top, len(columns))] {
		name := "column " + strconv.Itoa(i+1)
		if d := m.space.Dictionary(); d != nil {
			name = quote(string(d.Terms.At(i)))
		}
		words = append(words, fmt.Sprintf("%s %.4g", name, center[i]))
	}
	return words
}

// pickClusters returns the named clusters, or the largest.
func (m *model) pickClusters(names []string) ([]int, error) {
	var clusters []int
	for _, name := range names {
		j, err := strconv.Atoi(name)
		if err != nil || j < 0 || j >= m.clusters() {
			return nil, protocol.SpecFault("the model has no cluster %s", quote(name)).
				WithHint(fmt.Sprintf("Clusters are numbered from 0 to %d.", m.clusters()-1))
		}
		clusters = append(clusters, j)
	}
	if len(names) > 0 {
		return clusters, nil
	}
	for j := range m.clusters() {
		clusters = append(clusters, j)
	}
	// total order: clusters differ
	slices.SortFunc(clusters, func(x, y int) int {
		return cmp.Or(cmp.Compare(m.records[y], m.records[x]), cmp.Compare(x, y))
	})
	return clusters[:min(len(clusters), describeClusters)], nil
}

func quote(s string) string { return strconv.Quote(s) }
