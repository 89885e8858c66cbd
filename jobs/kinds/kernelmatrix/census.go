package kernelmatrix

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// roll is who the records of a shard are.
type roll struct {
	keep    func(dataset.Identity) bool // nil keeps all
	objects []string
	offsets []int64
	labels  []string
}

func newRoll(keep func(dataset.Identity) bool) *roll {
	return &roll{keep, []string{}, []int64{}, []string{}}
}

func (r *roll) add(block *dataset.Block) {
	for i, id := range block.IDs {
		if r.keep != nil && !r.keep(id) {
			continue
		}
		label := ""
		if block.Labels != nil {
			label = string(block.Labels[i])
		}
		r.objects, r.offsets, r.labels = append(r.objects, id.Object), append(r.offsets, id.Offset),
			append(r.labels, label)
	}
}

func (r *roll) table() parts.Table {
	return parts.Table{{Name: "object", Texts: r.objects}, {Name: "offset", Ints: r.offsets},
		{Name: "label", Texts: r.labels}}
}

// shard is one of a data set.
type shard struct {
	source jobs.Source
	number int64
}

// census lists shards, in any order, with the part that names the records of each.
type census struct {
	shards []shard
	list   parts.List
}

func (c *census) add(ctx context.Context, emit jobs.Emit, source jobs.Source, number int, r *roll) error {
	part, err := parts.Write(ctx, emit, folderOf(source), number, parts.CSV, r.table())
	c.shards, c.list = append(c.shards, shard{source, int64(number)}), append(c.list, part...)
	return err
}

// Fields lists the census.
func (c *census) Fields(f *jobs.Fields) {
	c.list.Fields(f)
	flat := make([]int64, 0, 2*len(c.shards))
	for _, s := range c.shards {
		flat = append(flat, int64(s.source), s.number)
	}
	jobs.List(f, "parts.shards", &flat, len(c.list), 2)
	if !f.Reading() {
		return
	}
	c.shards = make([]shard, len(c.list))
	for i := range c.shards {
		source := flat[2*i]
		f.Require(source == int64(jobs.Input) || source == int64(jobs.Queries), "records of data set %d", source)
		c.shards[i] = shard{jobs.Source(source), flat[2*i+1]}
	}
}

// plus lists the shards of the right after these.
func (c census) plus(right census) census {
	return census{append(c.shards, right.shards...), append(c.list, right.list...)}
}

// of returns the parts of a data set in the order of its shards.
func (c *census) of(source jobs.Source, shards int) (parts.List, error) {
	list, found := make(parts.List, shards), make([]bool, shards)
	for i, s := range c.shards {
		if s.source != source {
			continue
		}
		if s.number < 0 || s.number >= int64(shards) || found[s.number] {
			return nil, jobs.Malformed("the records of shard %d of %v, which has %d, twice or out of place", s.number,
				source, shards)
		}
		list[s.number], found[s.number] = c.list[i], true
	}
	for i, ok := range found {
		if !ok {
			return nil, jobs.Malformed("the records of shard %d of %v are missing", i, source)
		}
	}
	return list, nil
}
