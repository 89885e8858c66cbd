package onevsone

import (
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
)

// maxTableRows bounds the pairs that are shown.
const maxTableRows = 500

// Figures are those of the evaluation and, where pairs were judged, their table, a heat map of their errors, and a
// misclassified record of each.
func Figures(metrics []jobs.Metric) ([]jobs.Figure, error) {
	figures, err := evaluation.Figures(nil, metrics)
	if err != nil {
		return nil, err
	}
	var pairs []Pair
	if err := jobs.ReadMetric(metrics, Metric, &pairs); err != nil || len(pairs) == 0 {
		return figures, err
	}
	figures = append(figures, jobs.Figure{Title: "Errors of pairs", Heat: heatMap(pairs),
		Caption: "Test records of a class that the rule of two means gives to the other."})
	figures = append(figures, jobs.Figure{Title: "Pairs of classes", Table: pairTable(pairs),
		Caption: "Each two classes, decided by the closer of their two means; all pairs are in " + File + "."})
	var mistakes []pairMistake
	if err := jobs.ReadMetric(metrics, pairMistakesMetric, &mistakes); err != nil {
		return nil, err
	}
	if images := mistakeImages(mistakes); images != nil {
		figures = append(figures, jobs.Figure{Title: "Misclassified by the rule of two means", Images: images,
			Caption: "One record of each class in each pair, drawn by its identity: true class → decision."})
	}
	return figures, nil
}

// heatMap shows the errors of each pair: rows are the true class, columns the other class of the pair.
func heatMap(pairs []Pair) *jobs.HeatMap {
	labels := labelsOf(pairs)
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

// labelsOf are the classes of all pairs, in byte order.
func labelsOf(pairs []Pair) []string {
	labels := []string{pairs[0].First}
	for _, p := range pairs {
		if p.First != labels[0] {
			break
		}
		labels = append(labels, p.Second)
	}
	return labels
}
