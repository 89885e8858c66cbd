package kmeans

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/describe"
	"github.com/gram-compute/gram/jobs/learn/rank"
	"github.com/gram-compute/gram/protocol"
)

const (
	describeClusters = 20 // largest shown unless named
	describeTop      = 6  // coordinates of a center unless told
)

// describe tells people what a model is, within 80 columns: how training ended, and for each cluster its size, its
// radius (the root of the mean squared distance), the label met most in it, and the coordinates in which its center
// is farthest from the mean of the data. People name clusters by number.
func (m *model) describe(p *describe.Page) error {
	clusters, err := m.pickClusters(p.Names)
	if err != nil {
		return err
	}
	m.describeHead(p)
	for _, j := range clusters {
		m.describeCluster(p, j)
	}
	p.Shown("The %d largest of %d clusters", len(clusters), m.clusters())
	return nil
}

func (m *model) describeHead(p *describe.Page) {
	p.Line("kind", "%s (%s)", KindName, m.metric)
	p.Line("clusters", "%d", m.clusters())
	p.Line("records", "%s of %s, scale %s", protocol.Counted(m.space.Records, "training record"),
		protocol.Counted(m.space.Width, "column"), m.space.Scale())
	p.Line("distortion", "%.6g", m.distortion())
	if m.stiffness > 0 {
		p.Line("soft", "stiffness %.6g; free energy %.6g", m.stiffness, m.freeEnergy)
	}
	if m.algorithm != algorithmLloyd {
		p.Line("algorithm", "%s", m.algorithm)
	}
	p.Line("training", "init %s; %s of restart %d; stopped by %s", m.init, protocol.Counted(m.rounds, "round"),
		m.restart, m.stop)
	if c, ok := m.agreement(); ok {
		p.Line("labels", "%d; adjusted Rand index %.4f, mutual information %.4f", m.space.Labels.Len(),
			c.adjustedRand(), c.normalizedMutualInformation())
	}
	if m.silhouette != noSilhouette {
		p.Line("silhouette", "%.4f on a sample", m.silhouette)
	}
	if x := m.indices; x != nil {
		p.Line("indices", "Calinski-Harabasz %.6g, Davies-Bouldin %.4f", x.calinskiHarabasz, x.daviesBouldin)
	}
}

func (m *model) describeCluster(p *describe.Page, j int) {
	radius := 0.0
	if m.weight[j] > 0 {
		radius = math.Sqrt(m.cost[j] / m.weight[j])
	}
	p.Text("\ncluster %d (%s, radius %.4g)\n", j, protocol.Counted(m.records[j], "record"), radius)
	if m.silhouettes != nil && m.silhouettes[j] != noSilhouette {
		p.Text("  silhouette %.4f\n", m.silhouettes[j])
	}
	if label, n := m.mostLabel(j); n > 0 {
		share := 100 * float64(n) / float64(max(1, m.records[j]))
		p.Text("  mostly %s\n", describe.Clip(fmt.Sprintf("%s (%.0f %%)", quote(label), share), describe.Width-10))
	}
	p.Words(m.coordinates(j, p.Few(describeTop)))
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
	center, from := m.center(j), origin(m.space)
	columns := rank.Greatest(m.space.Width, func(i int) float64 { return math.Abs(center[i] - float64(from[i])) })
	var words []string
	for _, i := range columns[:min(top, len(columns))] {
		words = append(words, fmt.Sprintf("%s %.4g", m.space.ColumnName(i), center[i]))
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
	clusters = rank.Greatest(m.clusters(), func(j int) int64 { return m.records[j] })
	return clusters[:min(len(clusters), describeClusters)], nil
}

func quote(s string) string { return strconv.Quote(s) }

// figures are J or the free energy of each round, records of two columns, how the clusters fall on the labels, and
// centers as pictures where their width is a square.
func (m *model) figures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	figures, err := m.objectiveFigures(metrics)
	if err != nil {
		return nil, err
	}
	plane, err := m.planeFigures(metrics)
	if err != nil {
		return nil, err
	}
	figures = append(figures, plane...)
	if table := m.silhouetteTable(); table != nil {
		figures = append(figures, jobs.Figure{Title: "Silhouette by cluster", Table: table})
	}
	if heat := m.heatMap(); heat != nil {
		figures = append(figures, jobs.Figure{Title: "Clusters and labels", Heat: heat})
	}
	centers := jobs.Pictures("Centers",
		"Each center as a picture, between its own least and greatest value, with the records of its cluster.",
		m.space.Width, m.clusters(), func(j int) string { return fmt.Sprintf("%d (%d)", j, m.records[j]) }, m.center)
	return append(figures, centers...), nil
}

// objectiveFigures draws what the rounds lower.
func (m *model) objectiveFigures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	lines, err := m.objectiveLines(metrics, "."+objectiveOf(m.algorithm))
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	title, x, y := "Distortion by round", "round", "distortion J"
	switch m.algorithm {
	case algorithmSoft:
		title, y = "Free energy by round", "free energy F"
	case algorithmBatch:
		title, y = "Distortion of each batch", "distortion J of the batch"
	case algorithmBisecting:
		title, x = "Distortion by splits", "splits"
	}
	caption := ""
	if len(lines) > 1 {
		caption = fmt.Sprintf("The model is that of restart %d. The legend has the last value of each.", m.restart)
	}
	return []jobs.Figure{{Title: title, Caption: caption,
		Lines: &jobs.LineChart{X: x, Y: y, Series: lines, Decades: true}}}, nil
}

// objectiveLines gathers the metrics "lloyd.003.distortion", a line for each restart; that of the model is chosen.
func (m *model) objectiveLines(metrics []jobs.Metric, suffix string) ([]jobs.Series, error) {
	var lines []jobs.Series
	for _, metric := range metrics {
		if !strings.HasSuffix(metric.Name, suffix) || strings.HasPrefix(metric.Name, "kmeans.") {
			continue
		}
		var distortion float64
		if err := json.Unmarshal(metric.Value, &distortion); err != nil {
			return nil, jobs.Malformed("metric %q is no number", metric.Name)
		}
		number := "0"
		if words := strings.Split(metric.Name, "."); words[0] == "restart" && len(words) > 1 {
			number = words[1]
		}
		if name := "restart " + number; len(lines) == 0 || lines[len(lines)-1].Name != name {
			lines = append(lines, jobs.Series{Name: name})
		}
		line := &lines[len(lines)-1]
		line.X, line.Y = append(line.X, float64(len(line.X)+1)), append(line.Y, distortion)
	}
	for i, line := range lines {
		lines[i].Chosen = line.Name == fmt.Sprint("restart ", m.restart) && len(lines) > 1
		lines[i].Name += fmt.Sprintf(", %.6g", line.Y[len(line.Y)-1])
		if lines[i].Chosen {
			lines[i].Name += ", chosen"
		}
	}
	return lines, nil
}

// silhouetteTable has the silhouettes of the largest clusters; nil without a sample.
func (m *model) silhouetteTable() *jobs.FigureTable {
	if m.silhouettes == nil {
		return nil
	}
	table := &jobs.FigureTable{Columns: []string{"cluster", "training records", "silhouette"}}
	largest := rank.Greatest(m.clusters(), func(j int) int64 { return m.records[j] })
	for _, j := range largest[:min(len(largest), describeClusters)] {
		silhouette := "not in the sample"
		if m.silhouettes[j] != noSilhouette {
			silhouette = strconv.FormatFloat(m.silhouettes[j], 'f', 4, 64)
		}
		table.Rows = append(table.Rows, []string{strconv.Itoa(j), strconv.FormatInt(m.records[j], 10), silhouette})
	}
	return table
}

// heatMap counts labels by clusters; nil without labels, or with too many to look at.
func (m *model) heatMap() *jobs.HeatMap {
	const most = 50
	if m.space.Labels.Len() == 0 || m.space.Labels.Len() > most || m.clusters() > most {
		return nil
	}
	heat := &jobs.HeatMap{Rows: "label", Columns: "cluster", RowKeys: m.space.Labels.List(), Counts: m.labels}
	for j := range m.clusters() {
		heat.ColKeys = append(heat.ColKeys, fmt.Sprint(j))
	}
	return heat
}
