package knn

import (
	"strconv"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// target is what a record of the base votes for: its class or its value.
func (s *space) target(block *dataset.Block, i int) (float64, error) {
	if block.Labels == nil {
		return 0, block.IDs[i].Fault("the record has no label")
	}
	label := block.Labels[i]
	if s.params.Mode == modeRegress {
		return parseValue(block.IDs[i], label)
	}
	y, ok := s.class[string(label)]
	if !ok {
		return 0, jobs.Malformed("a training record has the label %q, which the first phase did not see", label)
	}
	return float64(y), nil
}

// parseValue reads a label as a number.
func parseValue(id dataset.Identity, label []byte) (float64, error) {
	value, err := strconv.ParseFloat(string(label), 64)
	if err != nil || value-value != 0 {
		return 0, id.Fault("the label %.40q is not a finite number, as mode regress needs", label)
	}
	return value, nil
}

// truths are the labels of queries, where they have any.
type truths struct {
	known  bool
	labels jobs.Strings
	values []float64
}

func (t *truths) add(block *dataset.Block, rows []int, mode string) error {
	for _, i := range rows {
		if mode == modeClassify {
			t.labels.Append(block.Labels[i])
			continue
		}
		value, err := parseValue(block.IDs[i], block.Labels[i])
		if err != nil {
			return err
		}
		t.values = append(t.values, value)
	}
	return nil
}
