package onevsone

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// File is the name of the file beside the model that has the table of pairs.
const File = "pairs.csv"

// Metric names the metric that is a list of Pair.
const Metric = "pairs"

const pairMistakesMetric = "pairs.mistakes"

// Pair counts the errors of the rule of two classes on the test records of the two classes.
type Pair struct {
	First         string  `json:"first"`
	Second        string  `json:"second"`
	Records       int64   `json:"records"`
	Errors        int64   `json:"errors"`
	ErrorPercent  float64 `json:"error_percent"` // 0 without records
	FirstRecords  int64   `json:"first_records"`
	FirstErrors   int64   `json:"first_errors"` // records of the first class given to the second
	SecondRecords int64   `json:"second_records"`
	SecondErrors  int64   `json:"second_errors"`
}

// pairMistake is a misclassified record of a pair, as a metric.
type pairMistake struct {
	ID      string    `json:"id,omitempty"` // or Row, or Object and Offset
	Row     *int64    `json:"row,omitempty"`
	Object  string    `json:"object,omitempty"`
	Offset  *int64    `json:"offset,omitempty"`
	Truth   string    `json:"truth"`
	Decided string    `json:"decided"`
	Values  []float32 `json:"values"`
}

// pairs lists all pairs of classes; in each the first class comes before the second in labels.
func (t *pairTally) pairs(labels []string) []Pair {
	n := len(labels)
	list := make([]Pair, 0, n*(n-1)/2)
	for a, first := range labels {
		for b := a + 1; b < n; b++ {
			p := Pair{First: first, Second: labels[b], FirstRecords: t.records[a], FirstErrors: t.errors[a*n+b],
				SecondRecords: t.records[b], SecondErrors: t.errors[b*n+a]}
			p.Records, p.Errors = p.FirstRecords+p.SecondRecords, p.FirstErrors+p.SecondErrors
			if p.Records > 0 {
				p.ErrorPercent = float64(100*float64(p.Errors)) / float64(p.Records)
			}
			list = append(list, p)
		}
	}
	return list
}

// report writes the table of pairs as a file and returns the metrics.
func (t *pairTally) report(ctx context.Context, labels []string, emit jobs.Emit) ([]jobs.Metric, error) {
	list := t.pairs(labels)
	data, err := tableOf(list).Encode(parts.CSV)
	if err != nil {
		return nil, err
	}
	if _, err := emit(ctx, File, data); err != nil {
		return nil, err
	}
	least, most := list[0], list[0]
	for _, p := range list {
		if p.ErrorPercent < least.ErrorPercent {
			least = p
		}
		if p.ErrorPercent > most.ErrorPercent {
			most = p
		}
	}
	var facts jobs.Facts
	facts.Add("pairs.count", len(list))
	facts.Add("pairs.fewest_errors", least.text())
	facts.Add("pairs.most_errors", most.text())
	facts.Add("pairs.table", File)
	facts.Add(Metric, list)
	facts.Add(pairMistakesMetric, t.samples())
	return facts.Metrics()
}

func (p Pair) text() string {
	return fmt.Sprintf("%s and %s: %d of %d (%.2f %%)", p.First, p.Second, p.Errors, p.Records, p.ErrorPercent)
}

// samples returns the misclassified records that were kept, pair by pair.
func (t *pairTally) samples() []pairMistake {
	list := []pairMistake{}
	for _, kept := range t.mistakes {
		if kept == nil {
			continue
		}
		for _, m := range kept.List() {
			list = append(list, pairMistakeOf(m))
		}
	}
	return list
}

func pairMistakeOf(m evaluation.Mistake) pairMistake {
	p := pairMistake{Truth: m.Truth, Decided: m.Decided, Values: m.Picture}
	switch m.ID.Way() {
	case dataset.ID:
		p.ID = m.ID.Object
	case dataset.Row:
		p.Row = &m.ID.Offset
	default:
		p.Object, p.Offset = m.ID.Object, &m.ID.Offset
	}
	return p
}

func (m pairMistake) mistake() evaluation.Mistake {
	return evaluation.Mistake{Truth: m.Truth, Decided: m.Decided, Picture: m.Values}
}

// tableOf returns the table of pairs, column by column.
func tableOf(list []Pair) parts.Table {
	first, second := make([]string, len(list)), make([]string, len(list))
	percent := make([]float64, len(list))
	counts := [6][]int64{}
	for i, p := range list {
		first[i], second[i], percent[i] = p.First, p.Second, p.ErrorPercent
		for c, n := range []int64{p.Records, p.Errors, p.FirstRecords, p.FirstErrors, p.SecondRecords, p.SecondErrors} {
			counts[c] = append(counts[c], n)
		}
	}
	return parts.Table{
		{Name: "first", Texts: first}, {Name: "second", Texts: second}, {Name: "records", Ints: counts[0]},
		{Name: "errors", Ints: counts[1]}, {Name: "error_percent", Floats: percent},
		{Name: "first_records", Ints: counts[2]},
		{Name: "first_errors", Ints: counts[3]},
		{Name: "second_records", Ints: counts[4]}, {Name: "second_errors", Ints: counts[5]},
	}
}
