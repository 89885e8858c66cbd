package knn

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/rows"
)

// reader gathers records into points. One goroutine.
type reader struct {
	*space
	vectors *features.Reader
	next    int64 // number of the next record
	chosen  []int
}

func (s *space) newReader(first int64) *reader {
	r := &reader{space: s, next: first}
	if s.vectors != nil {
		r.vectors = s.vectors.NewReader()
	}
	return r
}

// add appends the records of a block that keep chooses; nil keeps all. It returns their places
// in the block.
func (r *reader) add(to *points, block *dataset.Block, keep jobs.Choice) (places []int, err error) {
	first := r.next
	r.next += int64(len(block.IDs))
	if r.vectors == nil {
		err = r.addTexts(to, block, keep)
	} else {
		err = r.addVectors(to, block, keep)
	}
	if err != nil {
		return nil, err
	}
	for _, i := range r.chosen {
		to.ids = append(to.ids, first+int64(i))
	}
	return r.chosen, nil
}

func (r *reader) addTexts(to *points, block *dataset.Block, keep jobs.Choice) error {
	r.chosen = r.chosen[:0]
	for i := range block.IDs {
		if keep == nil || keep(block, i) {
			r.chosen = append(r.chosen, i)
		}
	}
	if err := checkTexts(block); err != nil {
		return err
	}
	for _, i := range r.chosen {
		to.Texts = append(to.Texts, []rune(string(block.Texts[i])))
	}
	to.N += len(r.chosen)
	return nil
}

func (r *reader) addVectors(to *points, block *dataset.Block, keep jobs.Choice) error {
	v, err := r.vectors.Read(block, keep)
	if err != nil {
		return err
	}
	r.chosen = append(r.chosen[:0], v.Records...)
	if to.Form == rows.Bits {
		return to.addBits(v)
	}
	if err := r.params.Metric.checkRows(v); err != nil {
		return err
	}
	to.Add(v, 0, v.Rows)
	return nil
}

// checkRows refuses values that a metric does not take.
func (m metric) checkRows(v features.Vectors) error {
	check := checkDistances
	switch m {
	case haversine:
		check = checkPlace
	case precomputed:
	default:
		return nil
	}
	for i := range v.Rows {
		if err := check(v.IDs[i], v.Dense.Row(i)); err != nil {
			return err
		}
	}
	return nil
}

// addBits packs features of 0 and 1.
func (p *points) addBits(v features.Vectors) error {
	from := rows.Of(v)
	for i := range v.Rows {
		start := len(p.Bits)
		p.Bits = append(p.Bits, make([]uint64, p.Words)...)
		row := p.Bits[start:]
		indices, values := from.Row(i)
		for e, x := range values {
			j := e
			if indices != nil {
				j = int(indices[e])
			}
			switch x {
			case 0:
			case 1:
				row[j/64] |= 1 << (j % 64)
			default:
				return v.IDs[i].Fault("value %d of the vector is %v; metric hamming needs 0 or 1", j+1, x)
			}
		}
	}
	p.N += v.Rows
	return nil
}

// reserve takes the memory for n records, at most a chunk of them, at once.
func (p *points) reserve(records int64) {
	most := (rows.TileFloats + rows.TileFloats/8) / max(1, p.Width)
	p.Reserve(int(min(records, int64(most))))
}

// baseReader passes records of the base on, a chunk of points at a time, with their ids if they are named.
type baseReader struct {
	*reader
	keep  jobs.Choice
	named bool
	chunk func(*points) error
	p     *points
}

// readBase passes the base records of a run of shards on to chunk.
func (in *index) readBase(ctx context.Context, leaf jobs.Leaf, run pairwise.Run, b baseReader) error {
	first, _, err := in.shard(run.First)
	if err != nil {
		return err
	}
	b.reader, b.p = in.newReader(first), in.newPoints()
	b.p.reserve(in.offsets[run.End] - first)
	for shard := run.First; shard < run.End; shard++ {
		for block, err := range leaf.Read(ctx, jobs.Input, shard) {
			if err == nil {
				err = b.add(block)
			}
			if err != nil {
				return err
			}
		}
		if b.next != in.offsets[shard+1] {
			return jobs.Malformed("shard %d ends at record %d of the data set; when its records were counted, at %d",
				shard, b.next, in.offsets[shard+1])
		}
	}
	return b.chunk(b.p)
}

// add takes the records of a block.
func (b *baseReader) add(block *dataset.Block) error {
	places, err := b.reader.add(b.p, block, b.keep)
	if err != nil {
		return err
	}
	if err := b.addTargets(b.p, block, places); err != nil {
		return err
	}
	if b.named {
		for _, i := range places {
			b.p.names.Append([]byte(block.IDs[i].Object))
		}
	}
	if b.p.Bytes()+b.p.nameBytes() < 4*rows.TileFloats {
		return nil
	}
	if err := b.chunk(b.p); err != nil {
		return err
	}
	b.p.reset()
	return nil
}

func (r *reader) addTargets(p *points, block *dataset.Block, places []int) error {
	if r.params.Mode == modeSearch {
		return nil
	}
	for _, i := range places {
		target, err := r.target(block, i)
		if err != nil {
			return err
		}
		p.target = append(p.target, target)
	}
	return nil
}

// readQueries gathers the queries of a tree, and draws the sample among them. Their ids are numbers of records of the
// base where they are of it, else within their shard.
func (p *plan) readQueries(
	ctx context.Context, in *index, leaf jobs.Leaf, s *sample,
) (*points, *pairwise.Asked, error) {
	first, records := int64(0), int64(0)
	if p.Own != nil {
		var err error
		if first, records, err = in.shard(leaf.Tree); err != nil {
			return nil, nil, err
		}
	}
	r, queries := in.newReader(first), in.newPoints()
	queries.reserve(records)
	asked, err := p.Ask(ctx, leaf, p.params.truth(),
		func(block *dataset.Block, keep jobs.Choice) ([]int, error) {
			queries.Reserve(len(block.IDs) + block.Rest)
			places, err := r.add(queries, block, keep)
			for k, i := range places {
				s.draw(queries.N-len(places)+k, block.IDs[i])
			}
			return places, err
		})
	return queries, asked, err
}
