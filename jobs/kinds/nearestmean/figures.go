package nearestmean

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
)

// Bounds of the figures.
const (
	maxImages    = 64
	maxTableRows = 500
)

// Figures returns the class means as pictures, if the width is a square number, and the figures of the
// evaluation. A job that judged pairs also has their table, a heat map of their errors, and a
// misclassified record of each pair.
func Figures(a jobs.Arrays, metrics []jobs.Metric) ([]jobs.Figure, error) {
	m, err := readModel(a)
	if err != nil {
		return nil, err
	}
	var figures []jobs.Figure
	if images := m.images(); images != nil {
		figures = append(figures, jobs.Figure{Title: "Class means", Images: images,
			Caption: "Each mean as a picture, between its own least and greatest value."})
	}
	var pairs []Pair
	if err := metricOf(metrics, pairsMetric, &pairs); err != nil {
		return nil, err
	}
	judged, err := evaluation.Figures(nil, metrics)
	if err != nil {
		return nil, err
	}
	figures = append(figures, judged...)
	if len(pairs) == 0 {
		return figures, nil
	}
	figures = append(figures, jobs.Figure{Title: "Errors of pairs", Heat: m.heatMap(pairs),
		Caption: "Test records of a class that the rule of two means gives to the other."})
	figures = append(figures, jobs.Figure{Title: "Pairs of classes", Table: pairTable(pairs),
		Caption: "Each two classes, decided by the closer of their two means; all pairs are in " + PairsFile + "."})
	var mistakes []pairMistake
	if err := metricOf(metrics, pairMistakesMetric, &mistakes); err != nil {
		return nil, err
	}
	if images := mistakeImages(mistakes); images != nil {
		figures = append(figures, jobs.Figure{Title: "Misclassified by the rule of two means", Images: images,
			Caption: "One record of each class in each pair, drawn by its identity: true class → decision."})
	}
	return figures, nil
}

// metricOf reads the named metric into to, and leaves to unchanged if there is none.
func metricOf(metrics []jobs.Metric, name string, to any) error {
	at := slices.IndexFunc(metrics, func(m jobs.Metric) bool { return m.Name == name })
	if at < 0 {
		return nil
	}
	if err := json.Unmarshal(metrics[at].Value, to); err != nil {
		return jobs.Malformed("metric %q is not what the job wrote: %v", name, err)
	}
	return nil
}

// images returns the means as pictures, or nil if the width is not a square number.
func (m *model) images() []jobs.Image {
	side := jobs.ImageWidth(m.space.Width)
	if side == 0 {
		return nil
	}
	var images []jobs.Image
	for y := range min(len(m.weight), maxImages) {
		image := jobs.Image{Label: string(m.space.Labels.At(y)), Width: side}
		for _, v := range m.mean(y) {
			image.Values = append(image.Values, float32(v))
		}
		images = append(images, image)
	}
	return images
}

// heatMap shows the errors of each pair: rows are the true class, columns the other class of the pair.
func (m *model) heatMap(pairs []Pair) *jobs.HeatMap {
	labels := m.space.Labels.List()
	n := len(labels)
	heat := &jobs.HeatMap{Rows: "truth", Columns: "against", RowKeys: labels, ColKeys: labels,
		Counts: make([]int64, n*n)}
	for _, p := range pairs {
		a, okA := slices.BinarySearch(labels, p.First)
		b, okB := slices.BinarySearch(labels, p.Second)
		if okA && okB {
			heat.Counts[a*n+b], heat.Counts[b*n+a] = p.FirstErrors, p.SecondErrors
		}
	}
	return heat
}

func pairTable(pairs []Pair) *jobs.FigureTable {
	table := &jobs.FigureTable{
		Columns: []string{"pair", "records", "errors", "error %", "errors of the first", "errors of the second"}}
	for _, p := range pairs[:min(len(pairs), maxTableRows)] {
		table.Rows = append(table.Rows, []string{p.First + ", " + p.Second, fmt.Sprint(p.Records), fmt.Sprint(p.Errors),
			fmt.Sprintf("%.2f", p.ErrorPercent), fmt.Sprintf("%d of %d", p.FirstErrors, p.FirstRecords),
			fmt.Sprintf("%d of %d", p.SecondErrors, p.SecondRecords)})
	}
	return table
}

func mistakeImages(list []pairMistake) []jobs.Image {
	var mistakes []evaluation.Mistake
	for _, m := range list {
		mistakes = append(mistakes, m.mistake())
	}
	return evaluation.MistakeImages(mistakes)
}
