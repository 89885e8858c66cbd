package evaluation

import (
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
)

// DealMetric is the name of the metric that says how records were dealt by label or by group.
const DealMetric = "evaluation.split"

// Deal says how many records the parts have.
type Deal struct {
	// Parts are the records of each fold or, if Held, of the records held out and of the others.
	Parts []int64 `json:"parts"`
	Held  bool    `json:"held_out,omitempty"`
	// Classes of a split by label, and the records of each in each part, of as many as are shown.
	Classes int64   `json:"classes,omitempty"`
	Labels  []Class `json:"labels,omitempty"`
	// Groups is how many there are; 0 if they are more than 2^16, and so dealt by hashes.
	Groups int64 `json:"groups,omitempty"`
	Hashed bool  `json:"hashed,omitempty"`
}

// Class has the records of a class in each part.
type Class struct {
	Label string  `json:"label"`
	Parts []int64 `json:"parts"`
}

// shownClasses bounds the classes of a report.
const shownClasses = 20

// Add adds the records of a class to a part. Parts of a class are added in order.
func (d *Deal) Add(part int, label string, records int64) {
	d.Parts[part] += records
	if part == 0 && len(d.Labels) < shownClasses {
		d.Labels = append(d.Labels, Class{Label: label})
	}
	if last := len(d.Labels) - 1; d.Labels[last].Label == label {
		d.Labels[last].Parts = append(d.Labels[last].Parts, records)
	}
}

// Uneven warns of folds whose sizes differ much, as groups cannot be cut; "" if they do not.
func (d *Deal) Uneven() string {
	least, most := slices.Min(d.Parts), slices.Max(d.Parts)
	if d.Held || most <= 2*least {
		return ""
	}
	return fmt.Sprintf("folds have %d to %d records, since records of a group stay together", least, most)
}

func dealFigures(d Deal) ([]jobs.Figure, error) {
	table := &jobs.FigureTable{Columns: []string{"part", "records"}}
	for _, c := range d.Labels {
		table.Columns = append(table.Columns, c.Label)
	}
	for i, n := range d.Parts {
		row := []string{d.part(i), fmt.Sprint(n)}
		for _, c := range d.Labels {
			if len(c.Parts) != len(d.Parts) {
				return nil, jobs.Malformed("class %q has %d parts of %d", c.Label, len(c.Parts), len(d.Parts))
			}
			row = append(row, fmt.Sprint(c.Parts[i]))
		}
		table.Rows = append(table.Rows, row)
	}
	caption := fmt.Sprintf("The records of each of %d classes are spread evenly.", d.Classes)
	switch {
	case d.Hashed:
		caption = "Records of a group stay together. There are more than 65,536 groups, which were drawn by hash."
	case d.Classes == 0:
		caption = fmt.Sprintf("Records of a group stay together; there are %d groups.", d.Groups)
	case d.Classes > int64(len(d.Labels)):
		caption += fmt.Sprintf(" The first %d are shown.", len(d.Labels))
	}
	return []jobs.Figure{{Title: "Split", Table: table, Caption: caption}}, nil
}

func (d Deal) part(i int) string {
	switch {
	case !d.Held:
		return fmt.Sprintf("fold %d", i+1)
	case i == 0:
		return "held out"
	}
	return "training"
}
