package evaluation

import (
	"cmp"
	"slices"
)

// maxConfused bounds the list of most confused pairs.
const maxConfused = 20

// Report is what a confusion matrix says. All ratios are in [0, 1].
type Report struct {
	Records          int64   `json:"records"`
	Rejected         int64   `json:"rejected"`
	Correct          int64   `json:"correct"`
	Accuracy         float64 `json:"accuracy"`          // correct / records: a rejected record is not correct
	AccuracyAnswered float64 `json:"accuracy_answered"` // correct / (records - rejected)
	// Micro pools the decisions of all labels, Macro is the plain mean over the labels.
	Micro    Ratios     `json:"micro"`
	Macro    Ratios     `json:"macro"`
	Labels   []Label    `json:"labels"`
	Confused []Confused `json:"confused"` // the most confused pairs, most first
}

// Ratios are precision TP/(TP+FP), recall TP/(TP+FN) and F1 = 2TP/(2TP+FP+FN).
type Ratios struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// Label is one label's part of a report.
type Label struct {
	Label string `json:"label"`
	Ratios
	Records   int64 `json:"records"`   // of this label
	Predicted int64 `json:"predicted"` // given this label
	Correct   int64 `json:"correct"`
	Rejected  int64 `json:"rejected"` // of this label
}

// Confused is how many records of one label were given another.
type Confused struct {
	Truth     string `json:"truth"`
	Predicted string `json:"predicted"`
	Count     int64  `json:"count"`
}

// Report derives the figures. No record gives ratios of 0.
func (c *Confusion) Report() Report {
	names, cells := c.Cells()
	r := Report{Labels: make([]Label, len(names)), Confused: []Confused{}}
	for i, name := range names {
		r.Labels[i].Label = name
	}
	for _, cell := range cells {
		r.count(cell)
	}
	answered := r.Records - r.Rejected
	r.Accuracy = ratio(r.Correct, r.Records)
	r.AccuracyAnswered = ratio(r.Correct, answered)
	r.Micro = ratios(r.Correct, answered, r.Records)
	for i := range r.Labels {
		l := &r.Labels[i]
		l.Ratios = ratios(l.Correct, l.Predicted, l.Records)
		r.Macro.Precision += l.Precision
		r.Macro.Recall += l.Recall
		r.Macro.F1 += l.F1
	}
	if n := float64(len(r.Labels)); n > 0 {
		r.Macro = Ratios{r.Macro.Precision / n, r.Macro.Recall / n, r.Macro.F1 / n}
	}
	r.rankConfused()
	return r
}

// count enters one cell into the sums.
func (r *Report) count(cell Cell) {
	truth := &r.Labels[cell.Truth]
	r.Records += cell.Count
	truth.Records += cell.Count
	if cell.Predicted == rejected {
		r.Rejected += cell.Count
		truth.Rejected += cell.Count
		return
	}
	predicted := &r.Labels[cell.Predicted]
	predicted.Predicted += cell.Count
	if truth == predicted {
		r.Correct += cell.Count
		truth.Correct += cell.Count
		return
	}
	r.Confused = append(r.Confused, Confused{truth.Label, predicted.Label, cell.Count})
}

// rankConfused orders the pairs by falling count, then by their labels.
func (r *Report) rankConfused() {
	// total order: no pair of labels stands there twice
	slices.SortFunc(r.Confused, func(a, b Confused) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Truth, b.Truth),
			cmp.Compare(a.Predicted, b.Predicted))
	})
	r.Confused = r.Confused[:min(len(r.Confused), maxConfused)]
}

// ratios of correct decisions, all decisions for a label, and all records of it.
func ratios(correct, predicted, records int64) Ratios {
	return Ratios{
		Precision: ratio(correct, predicted),
		Recall:    ratio(correct, records),
		F1:        ratio(2*correct, predicted+records),
	}
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
