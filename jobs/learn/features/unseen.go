package features

import (
	"fmt"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/protocol"
)

// UnseenCategories counts the records whose categories no training record has, which a model with unseen:
// zeros gives zeros.
type UnseenCategories struct {
	encoder *encoder
	Records []int64 // of each categorical column
}

// CheckUnseen refuses unseen: zeros, for kinds that do not count such records.
func (p Params) CheckUnseen(kind string) error {
	if p.Categories == nil || p.Categories.Unseen != unseenZeros {
		return nil
	}
	return protocol.SpecFault("features.categories.unseen: %s is not available for %s, which does not count such records",
		unseenZeros, kind).WithHint("Leave it out: then a record with an unseen category is an error.")
}

// UnseenOf returns a count of 0 for the records of a model; nil for a model that has no categories, or none that are
// unseen.
func UnseenOf(model jobs.Arrays) (*UnseenCategories, error) {
	if _, ok := model[categoriesArray+".numeric"]; !ok {
		return nil, nil
	}
	s, err := ReadSpace(model)
	if err != nil || s.encoder.hasher != nil || s.encoder.Unseen != unseenZeros {
		return nil, err
	}
	return &UnseenCategories{s.encoder, make([]int64, len(s.encoder.names))}, nil
}

// Add counts the records of a block.
func (u *UnseenCategories) Add(block *dataset.Block) {
	if u == nil || block.Categories.Width != len(u.Records) {
		return // what else is wrong with them, the predictor says
	}
	for i := range block.IDs {
		for k, category := range block.Categories.Row(i) {
			if _, ok := u.encoder.column(k, category); !ok {
				u.Records[k]++
			}
		}
	}
}

// Plus adds the count to the right; nil if either is nil, in which all leaves of a model agree.
func (u *UnseenCategories) Plus(right *UnseenCategories) (*UnseenCategories, error) {
	if u == nil || right == nil {
		return nil, nil
	}
	all, err := sums.Of(u.Records, right.Records)
	return &UnseenCategories{u.encoder, all}, err
}

// Fields lists the counts.
func (u *UnseenCategories) Fields(f *jobs.Fields) {
	jobs.List(f, UnseenArray, &u.Records)
	f.Require(len(u.Records) > 0 && jobs.Exact(u.Records, 0), "counts of unseen categories are below 0, or there are none")
}

// UnseenArray is an array of a count.
const UnseenArray = "categories.unseen"

// Metrics returns the count by column, and a warning if it is not 0; nothing for a model without unseen categories.
func (u *UnseenCategories) Metrics(model jobs.Arrays) ([]jobs.Metric, error) {
	of, err := UnseenOf(model)
	if err != nil || of == nil || u == nil {
		return nil, err
	}
	if len(u.Records) != len(of.Records) {
		return nil, jobs.Malformed("counts of unseen categories in %d columns of %d", len(u.Records), len(of.Records))
	}
	var facts jobs.Facts
	var columns []string
	counts := map[string]int64{}
	for k, n := range u.Records {
		name := of.encoder.names[k]
		if counts[name] = n; n > 0 {
			columns = append(columns, fmt.Sprintf("%q in %s", name, protocol.Counted(n, "record")))
		}
	}
	facts.Add(UnseenArray, counts)
	if len(columns) > 0 {
		facts.Add(jobs.WarningsMetric, []string{"categories that no training record has count as zeros: " +
			strings.Join(columns, ", ") + ". Train on records that have them, or set categories.unseen: error"})
	}
	return facts.Metrics()
}
