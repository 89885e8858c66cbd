package perceptron

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
)

// state is a model in training and how far it is. In arrays it is a model's, and those of
// progress.
type state struct {
	*model
	progress
	room   int64   // how many vectors may vote beside the last
	extras []extra // of distinct, by shard, then record
}

// progress counts epochs from 0, and in an epoch the shards done, the mistakes and the updates.
type progress struct{ epoch, position, mistakes, updates int64 }

// extra is the weight of a record's own feature. Records of a shard are numbered from 0 as they are read, test
// records left out.
type extra struct {
	shard  int32
	record int64
	weight float32
}

// Arrays of a state beside a model's, and of a chained partial.
const (
	atName      = "at"   // I64 [epoch, position, mistakes, updates]
	roomName    = "room" // I64 scalar
	extraShard  = "distinct.shard"
	extraRecord = "distinct.record"
	extraWeight = "distinct.weight"
)

func (s *state) arrays() jobs.Arrays {
	a := s.model.arrays()
	jobs.Put(a, atName, []int64{s.epoch, s.position, s.mistakes, s.updates})
	jobs.PutScalar(a, roomName, s.room)
	putExtras(a, s.extras)
	return a
}

func readState(a jobs.Arrays, ops *kernelops.Set) (*state, error) {
	m, err := readArrays(a, ops)
	if err != nil {
		return nil, err
	}
	at, err := jobs.Get[int64](a, atName, 4)
	if err != nil {
		return nil, err
	}
	s := &state{model: m, progress: progress{at[0], at[1], at[2], at[3]}}
	if s.room, err = jobs.GetScalar[int64](a, roomName); err != nil {
		return nil, err
	}
	if s.room < 1 || s.room > int64(s.MaxVectors) {
		return nil, jobs.Malformed("a state with room for %d vectors, max_vectors %d", s.room, s.MaxVectors)
	}
	s.extras, err = readExtras(a)
	return s, err
}

func putExtras(a jobs.Arrays, extras []extra) {
	shards, records, weights := make([]int32, len(extras)), make([]int64, len(extras)), make([]float32, len(extras))
	for i, e := range extras {
		shards[i], records[i], weights[i] = e.shard, e.record, e.weight
	}
	jobs.Put(a, extraShard, shards)
	jobs.Put(a, extraRecord, records)
	jobs.Put(a, extraWeight, weights)
}

func readExtras(a jobs.Arrays) ([]extra, error) {
	r := jobs.ArrayReader{Arrays: a}
	shards := jobs.ReadArray[int32](&r, extraShard)
	records, weights := jobs.ReadArray[int64](&r, extraRecord, len(shards)), jobs.ReadArray[float32](&r, extraWeight, len(shards))
	if r.Err != nil {
		return nil, r.Err
	}
	extras := make([]extra, len(shards))
	for i := range extras {
		extras[i] = extra{shards[i], records[i], weights[i]}
	}
	return extras, nil
}

// extrasOf returns the weights of a shard's own features by record, and where they stand in extras.
func (s *state) extrasOf(shard int) (weights map[int64]float32, begin, end int) {
	find := func(e extra, shard int32) int { return cmp.Compare(e.shard, shard) }
	begin, _ = slices.BinarySearchFunc(s.extras, int32(shard), find)
	end, _ = slices.BinarySearchFunc(s.extras, int32(shard)+1, find)
	weights = make(map[int64]float32, end-begin)
	for _, e := range s.extras[begin:end] {
		weights[e.record] = e.weight
	}
	return weights, begin, end
}

// order returns the shards in the order of an epoch.
func (j job) order(epoch int64, shards int) []int {
	order := make([]int, shards)
	for i := range order {
		order[i] = i
	}
	if !j.params.Shuffle {
		return order
	}
	key := philox.New(j.seed, "perceptron/shards")
	draw := func(shard int) uint64 { return key.Uint64(uint64(epoch), uint64(shard)) }
	// total order: shards differ
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(cmp.Compare(draw(x), draw(y)), cmp.Compare(x, y)) })
	return order
}

// endEpoch closes an epoch and says what comes next: another, or the margin.
func (j job) endEpoch(s *state) (next string, metrics []jobs.Metric) {
	s.epochMistakes, s.epochUpdates = append(slices.Clone(s.epochMistakes), s.progress.mistakes), append(slices.Clone(s.epochUpdates), s.progress.updates)
	name := fmt.Sprintf("perceptron.epoch.%03d.", s.epoch+1)
	metrics = []jobs.Metric{jobs.CountMetric(name+"mistakes", s.progress.mistakes), jobs.CountMetric(name+"updates", s.progress.updates)}
	s.separated = s.progress.mistakes == 0
	s.progress = progress{epoch: s.epoch + 1}
	if s.separated || s.epoch >= int64(j.params.Epochs) {
		return marginName, metrics
	}
	return j.params.Over, metrics
}
