package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// idPlace is a record whose id another one has too.
type idPlace struct {
	place
	Number int64            `json:"number"` // of the record within its shard
	Hash   idHash           `json:"hash"`
	ID     string           `json:"id"`
	At     dataset.Identity `json:"at"` // its place
}

func (p idPlace) compare(other idPlace) int {
	return cmp.Or(p.place.compare(other.place), cmp.Compare(p.Number, other.Number))
}

// idPlaces are records whose ids have certain hashes: of each hash the first two, in the order of the data set.
type idPlaces struct{ list []idPlace }

// Fields lists the records as JSON.
func (p *idPlaces) Fields(f *jobs.Fields) {
	var text []byte
	if !f.Reading() {
		text, _ = json.Marshal(p.list) // strings and integers always encode
	}
	jobs.List(f, idsPrefix+"places", &text)
	f.Check(func() error {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if dec.Decode(&p.list) != nil || dec.More() || !slices.IsSortedFunc(p.list, idPlace.compare) {
			return jobs.Malformed("array %q does not list records", idsPrefix+"places")
		}
		return nil
	})
}

// plus unites the records of two neighbors.
func (p *idPlaces) plus(right *idPlaces) (*idPlaces, error) {
	all := slices.Concat(p.list, right.list)
	slices.SortFunc(all, idPlace.compare) // total order: records differ
	found, sum := map[idHash]int{}, &idPlaces{}
	for _, x := range all {
		if found[x.Hash]++; found[x.Hash] <= 2 {
			sum.list = append(sum.list, x)
		}
	}
	return sum, nil
}

// find finds the records of a leaf whose hashes occur more than once.
func (c *idCheck) find(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ *kernelops.Set) (*idPlaces, error) {
	flat, err := jobs.Get[uint64](state, twiceArray, -1, 2)
	if err != nil {
		return nil, err
	}
	wanted := map[idHash]bool{}
	for ; len(flat) > 0; flat = flat[2:] {
		wanted[idHash{flat[0], flat[1]}] = true
	}
	found := &idPlaces{}
	for at := range c.shards(leaf) {
		h, number := newIDHasher(c.seed, at.Source), int64(0)
		for block, err := range leaf.Read(ctx, at.Source, at.Shard) {
			if err != nil {
				return nil, err
			}
			for i, id := range block.IDs {
				if hash := h.hash(id); wanted[hash] {
					x := idPlace{at, number, hash, id.Object, placeIn(block, i, number)}
					if found, err = found.plus(&idPlaces{[]idPlace{x}}); err != nil {
						return nil, err
					}
				}
				number++
			}
		}
	}
	return found, nil
}

// placeIn is the place of record i of a block.
func placeIn(block *dataset.Block, i int, number int64) dataset.Identity {
	if block.Places != nil {
		return block.Places[i]
	}
	return dataset.ByRow(number)
}

// refuse ends the job with a fault that names two records of one id: of all such pairs, that whose second record is the
// first of the data set.
func (c *idCheck) refuse(_ context.Context, _ jobs.Arrays, found *idPlaces, _ jobs.Round) (jobs.Next, error) {
	first := map[idHash]idPlace{}
	for _, second := range found.list {
		before, again := first[second.Hash]
		if !again {
			first[second.Hash] = second
			continue
		}
		if before.ID != second.ID {
			return jobs.Next{}, protocol.InputFault(protocol.CodeInternal,
				"the ids %q and %q have the same hash of 128 bits", before.ID, second.ID).
				WithHint("Set another spec.repro.seed")
		}
		return jobs.Next{}, c.twiceFault(before, second)
	}
	return jobs.Next{}, jobs.Malformed("no two records have one id, and two had the same hash")
}

func (c *idCheck) twiceFault(before, second idPlace) error {
	fault := second.At.Fault("two records have the id %q: this one, and %s", second.ID, c.text(before))
	if second.At.Way() == dataset.Place && c.rows[second.Source] {
		fault = fault.WithoutOffset()
		fault.What = fmt.Sprintf("row %d: %s", second.At.Offset, fault.What)
	}
	return fault.WithHint(fmt.Sprintf(
		"An id names one record: remove one of the two, or let %s name the records by something else", second.Source))
}

// text says where a record is.
func (c *idCheck) text(p idPlace) string {
	switch {
	case p.At.Way() != dataset.Place:
		return fmt.Sprintf("record %d of shard %d", p.Number, p.Shard)
	case c.rows[p.Source]:
		return fmt.Sprintf("row %d of %q", p.At.Offset, p.At.Object)
	}
	return fmt.Sprintf("that at byte %d of %q", p.At.Offset, p.At.Object)
}
