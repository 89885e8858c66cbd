package kmeans

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// figures are J of each round, how the clusters fall on the labels, and centers as pictures where their width is a
// square.
func (m *model) figures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	lines, err := distortionLines(metrics)
	if err != nil {
		return nil, err
	}
	var figures []jobs.Figure
	if len(lines) > 0 {
		figures = append(figures, jobs.Figure{Title: "Distortion by round",
			Lines: &jobs.LineChart{X: "round", Y: "J", Series: lines}})
	}
	if heat := m.heatMap(); heat != nil {
		figures = append(figures, jobs.Figure{Title: "Clusters and labels", Heat: heat})
	}
	centers := jobs.Pictures("Centers",
		"Each center as a picture, between its own least and greatest value, with the records of its cluster.",
		m.space.Width, m.clusters(), func(j int) string { return fmt.Sprintf("%d (%d)", j, m.records[j]) }, m.center)
	return append(figures, centers...), nil
}

// distortionLines gathers the metrics "lloyd.003.distortion", a line for each restart.
func distortionLines(metrics []jobs.Metric) ([]jobs.Series, error) {
	var lines []jobs.Series
	for _, metric := range metrics {
		at := strings.Index(metric.Name, "lloyd.")
		if at < 0 || !strings.HasSuffix(metric.Name, ".distortion") {
			continue
		}
		var distortion float64
		if err := json.Unmarshal(metric.Value, &distortion); err != nil {
			return nil, jobs.Malformed("metric %q is no number", metric.Name)
		}
		name := strings.TrimSuffix(metric.Name[:at], ".")
		if name == "" {
			name = "restart.0"
		}
		if len(lines) == 0 || lines[len(lines)-1].Name != name {
			lines = append(lines, jobs.Series{Name: name})
		}
		line := &lines[len(lines)-1]
		line.X, line.Y = append(line.X, float64(len(line.X)+1)), append(line.Y, distortion)
	}
	return lines, nil
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
