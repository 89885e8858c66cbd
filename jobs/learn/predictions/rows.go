package predictions

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// rows gathers the output of a shard by column.
type rows struct {
	params  Params
	answers jobs.Answers
	number  map[string]int64 // of each label

	ids    *parts.Identities
	labels []string
	codes  []int64
	values []float64
	scores [][]float64
	logs   [][]float64 // of the posteriors of each label; nil unless wanted
}

func newRows(answers jobs.Answers, params Params, way dataset.Way) *rows {
	r := &rows{params: params, answers: answers, number: map[string]int64{},
		ids: parts.NewIdentities(way), labels: []string{}, codes: []int64{}, values: []float64{}}
	for i, label := range answers.Labels {
		r.number[label] = int64(i)
	}
	if params.Scores || params.Distances {
		r.scores = make([][]float64, len(answers.Scores))
		for i := range r.scores {
			r.scores[i] = []float64{}
		}
	}
	if params.LogPosteriors && answers.Logs {
		r.logs = make([][]float64, len(answers.Labels))
		for i := range r.logs {
			r.logs[i] = []float64{}
		}
	}
	return r
}

// add takes in what the format wants of a block's outcomes.
func (r *rows) add(block *dataset.Block, outcomes []jobs.Outcome) {
	numbers := r.params.Format == parts.NPY
	for i, o := range outcomes {
		if numbers {
			r.codes = append(r.codes, r.code(o))
		} else {
			r.ids.Add(block.IDs[i])
			r.labels = append(r.labels, o.Label)
		}
		if r.answers.Value != "" {
			if o.Rejected && r.answers.Labels == nil {
				o.Value = math.NaN() // there is no number
			}
			r.values = append(r.values, o.Value)
		}
		for s := range r.scores {
			r.scores[s] = append(r.scores[s], o.Scores[s])
		}
		for y := range r.logs {
			r.logs[y] = append(r.logs[y], o.Logs[y])
		}
	}
}

// code is the number of a label; -1 stands for a rejected record.
func (r *rows) code(o jobs.Outcome) int64 {
	if n, ok := r.number[o.Label]; ok && !o.Rejected {
		return n
	}
	return -1
}

// table is the columns in the order of the output: what the record is named by, the answer, the scores.
func (r *rows) table() parts.Table {
	var t parts.Table
	if r.params.Format == parts.NPY {
		return append(r.answer(t), r.scoreColumns()...)
	}
	t = r.ids.Columns()
	if r.answers.Labels != nil {
		t = append(t, parts.Column{Name: "label", Texts: r.labels})
	}
	if r.answers.Value != "" {
		t = append(t, parts.Column{Name: r.answers.Value, Floats: r.values})
	}
	return append(t, r.scoreColumns()...)
}

// answer is the number that npy has of a record.
func (r *rows) answer(t parts.Table) parts.Table {
	if r.answers.Labels != nil {
		return append(t, parts.Column{Name: "label", Ints: r.codes})
	}
	return append(t, parts.Column{Name: r.answers.Value, Floats: r.values})
}

func (r *rows) scoreColumns() parts.Table {
	var t parts.Table
	what := "score:"
	if r.params.Distances {
		what = "distance:"
	}
	for i, values := range r.scores {
		t = append(t, parts.Column{Name: what + r.answers.Scores[i], Floats: values})
	}
	for y, values := range r.logs {
		t = append(t, parts.Column{Name: "log_posterior:" + r.answers.Labels[y], Floats: values})
	}
	return slices.Clip(t)
}
