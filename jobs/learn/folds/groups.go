package folds

import (
	"cmp"
	"slices"

	"github.com/gram-compute/gram/jobs/learn/evaluation"
	"github.com/gram-compute/gram/protocol"
)

// group is one of those that are dealt.
type group struct {
	at      int // in the list of hashes
	draw    uint64
	records int64
}

// dealGroups deals the groups.
func (d dealer) dealGroups(t *dealt, c *census, report *evaluation.Deal) error {
	if c.over {
		report.Hashed, report.Parts = true, c.hashed
		return nil
	}
	n := len(c.groups)
	if report.Groups = int64(n); n == 0 {
		return protocol.EmptyFault("no record").WithHint("Check spec.input.uri.")
	}
	if n < d.parts() {
		if d.split.Folds == 0 {
			return protocol.SpecFault("column %v has one value only, so no group can be held out", d.split.Group).
				WithHint("Name another column in spec.input.split.group.")
		}
		return protocol.SpecFault("column %v has %s, fewer than there are folds (%d)", d.split.Group,
			protocol.Counted(n, "different value"), d.parts()).WithHint("Take fewer folds, or check spec.input.split.group.")
	}
	t.groups, t.of = c.groups, make([]uint8, n)
	list := make([]group, n)
	for i, hash := range c.groups {
		list[i] = group{i, d.key().Uint64(hash, 1), c.records[i]}
	}
	if d.split.Folds == 0 {
		d.holdOut(list, t.of)
	} else {
		d.fill(list, t.of)
	}
	for i, part := range t.of {
		report.Parts[part-1] += c.records[i]
	}
	return nil
}

// fill gives the largest group that is left to the smallest part; of equal groups that with the least draw, of equal
// parts the first.
func (d dealer) fill(list []group, of []uint8) {
	// total order: groups have places of their own
	slices.SortFunc(list, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.records, a.records), cmp.Compare(a.draw, b.draw), cmp.Compare(a.at, b.at))
	})
	sizes := make([]int64, d.parts())
	for _, g := range list {
		part := slices.Index(sizes, slices.Min(sizes))
		sizes[part] += g.records
		of[g.at] = uint8(part) + 1
	}
}

// holdOut holds out groups in the order of their draws, but those that would go beyond the share of the records; the
// smallest one if there is no other.
func (d dealer) holdOut(list []group, of []uint8) {
	// total order: groups have places of their own
	slices.SortFunc(list, func(a, b group) int { return cmp.Or(cmp.Compare(a.draw, b.draw), cmp.Compare(a.at, b.at)) })
	all, held := int64(0), int64(0)
	for _, g := range list {
		all += g.records
	}
	least, most := list[0], min(rounded(d.split.Test, all), all-1) // something is left to train on
	for _, g := range list {
		of[g.at] = 2
		if g.records < least.records {
			least = g
		}
		if held+g.records <= most {
			held += g.records
			of[g.at] = 1
		}
	}
	if held == 0 {
		of[least.at] = 1
	}
}
