package folds

import (
	"maps"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// counter counts the records of a leaf: of each class or each group, as long as there are not too many, and those of
// the parts that groups are in if they are dealt by their hashes.
type counter struct {
	dealer
	labels map[string]int64
	groups map[uint64]int64
	hashed []int64
	over   bool
}

func newCounter(d dealer) *counter {
	return &counter{d, map[string]int64{}, map[uint64]int64{}, make([]int64, d.parts()), false}
}

func (c *counter) add(block *dataset.Block) error {
	for i, id := range block.IDs {
		switch {
		case c.split.By == "" && block.Groups == nil, c.split.By != "" && block.Labels == nil:
			return id.Fault("the record has no value to deal it by").
				WithHint("Name a column in spec.input.label or spec.input.split.group.")
		case c.split.By == "":
			c.groups[block.Groups[i]]++
			c.hashed[c.dealer.hashed(block.Groups[i])-1]++
		default:
			c.labels[string(block.Labels[i])]++
		}
		if len(c.labels) > maxClasses || len(c.groups) > maxGroups {
			c.over = true
			clear(c.labels)
			clear(c.groups)
		}
	}
	return nil
}

// census is the partial of the leaf.
func (c *counter) census() *census {
	to := &census{hashed: c.hashed, over: c.over}
	if c.over {
		return to
	}
	for _, label := range slices.Sorted(maps.Keys(c.labels)) {
		to.labels.Append([]byte(label))
		to.records = append(to.records, c.labels[label])
	}
	for _, group := range slices.Sorted(maps.Keys(c.groups)) {
		to.groups = append(to.groups, group)
		to.records = append(to.records, c.groups[group])
	}
	return to
}

// census has the classes or groups, ascending, and the records of each; none where there are too many.
type census struct {
	labels  jobs.Strings
	groups  []uint64
	records []int64
	hashed  []int64
	over    bool
}

// Fields lists the counts.
func (c *census) Fields(f *jobs.Fields) {
	f.Strings("labels", &c.labels)
	jobs.List(f, "groups", &c.groups)
	jobs.List(f, "records", &c.records, c.labels.Len()+len(c.groups))
	jobs.List(f, "hashed", &c.hashed)
	jobs.Flag[uint8](f, "over", &c.over)
	f.Require(c.labels.StrictlyAscending() && slices.IsSorted(c.groups) && len(c.hashed) <= protocol.MaxFolds,
		"counts that are not in order")
}

// plus adds the counts to the right. Whether there are too many classes does not depend on how leaves are merged: there
// are if all of them together have more.
func (c *census) plus(right *census) (*census, error) {
	if len(c.hashed) != len(right.hashed) {
		return nil, jobs.Malformed("counts of %d and of %d parts", len(c.hashed), len(right.hashed))
	}
	all := counter{labels: map[string]int64{}, groups: map[uint64]int64{}, hashed: slices.Clone(c.hashed),
		over: c.over || right.over}
	for i, n := range right.hashed {
		all.hashed[i] += n
	}
	for _, side := range []*census{c, right} {
		for i, n := range side.records {
			if i < side.labels.Len() {
				all.labels[string(side.labels.At(i))] += n
			} else {
				all.groups[side.groups[i-side.labels.Len()]] += n
			}
		}
	}
	all.over = all.over || len(all.labels) > maxClasses || len(all.groups) > maxGroups
	return all.census(), nil
}
