package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// A partial on its way through the cluster carries the number of bad records skipped in each
// shard that was read below its node, in arrays whose names begin with "skipped.". Without
// skipped records the arrays are absent; phases never see them.
//
// A forest reads a shard of the input once for each tree of a search, and a shard of the
// queries once for each leaf. The counts are therefore kept by shard, and a merge unites
// them: each shard of the input and of the queries counts once in a forest, whichever
// leaf read it. Each data set has its own limit, on_bad_record.skip_max.
const (
	skippedPrefix  = "skipped."
	skippedShards  = skippedPrefix + "shards"  // I64 [shards, 3]: source, shard, count; ascending
	skippedSamples = skippedPrefix + "samples" // U8: JSON list of the first few, in that order
)

// reservedPrefixes begin the names of arrays that phases never see.
var reservedPrefixes = []string{skippedPrefix, notesPrefix, nodesPrefix}

// maxSkipSamples bounds how many skipped records are named.
const maxSkipSamples = 10

// place is a shard of a data set.
type place struct {
	Source jobs.Source `json:"source"`
	Shard  int         `json:"shard"`
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.Source, q.Source), cmp.Compare(p.Shard, q.Shard))
}

// shardSkips counts the records skipped in one shard.
type shardSkips struct {
	place
	count int64
}

// sample is a record that was skipped.
type sample struct {
	place
	dataset.Skip
}

// skips are the records skipped below a node: by shard in ascending order, and the first
// of them all.
type skips struct {
	shards  []shardSkips
	samples []sample
}

// plus unites what two nodes read. A shard that both read counts once.
func (s skips) plus(right skips) skips {
	var sum skips
	a, b := s.shards, right.shards
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].compare(b[0].place) < 0:
			sum.shards, a = append(sum.shards, a[0]), a[1:]
		case len(a) == 0 || a[0].compare(b[0].place) > 0:
			sum.shards, b = append(sum.shards, b[0]), b[1:]
		default:
			sum.shards, a, b = append(sum.shards, a[0]), a[1:], b[1:]
		}
	}
	for _, shard := range sum.shards {
		left, right := s.samplesOf(shard.place), right.samplesOf(shard.place)
		if len(right) > len(left) { // both begin with the shard's first
			left = right
		}
		sum.samples = append(sum.samples, left[:min(len(left), maxSkipSamples-len(sum.samples))]...)
		if len(sum.samples) == maxSkipSamples {
			break
		}
	}
	return sum
}

func (s skips) samplesOf(p place) []sample {
	begin := slices.IndexFunc(s.samples, func(x sample) bool { return x.place == p })
	if begin < 0 {
		return nil
	}
	end := begin
	for end < len(s.samples) && s.samples[end].place == p {
		end++
	}
	return s.samples[begin:end]
}

func (s skips) count(from jobs.Source) (n int64) {
	for _, shard := range s.shards {
		if shard.Source == from {
			n += shard.count
		}
	}
	return n
}

// skipLimits are the skip_max of each data set.
type skipLimits [2]int64

func limitsOf(spec protocol.JobSpec) skipLimits {
	limits := skipLimits{jobs.Input: spec.Spec.Input.OnBadRecord.SkipMax}
	if q := spec.Spec.Queries; q != nil {
		limits[jobs.Queries] = q.OnBadRecord.SkipMax
	}
	return limits
}

// check refuses more bad records than the spec lets pass.
func (l skipLimits) check(s skips) error {
	for _, from := range []jobs.Source{jobs.Input, jobs.Queries} {
		if n := s.count(from); n > l[from] {
			return s.fault(from, n, l[from])
		}
	}
	return nil
}

func (s skips) fault(from jobs.Source, n, most int64) error {
	f := protocol.InputFault(protocol.CodeBadRecord, "%d bad records or more; on_bad_record.skip_max is %d", n, most).
		WithHint(fmt.Sprintf("Mend the records, or raise %s.on_bad_record.skip_max.", from))
	first := slices.IndexFunc(s.samples, func(x sample) bool { return x.Source == from })
	if first >= 0 {
		x := s.samples[first]
		f = f.In(x.ID.Object).WithOffset(x.ID.Offset).At(x.Line, x.Column)
		f.What = x.Reason + "; " + f.What
	}
	return f
}

// attach returns partial with the arrays that tell s.
func (s skips) attach(partial jobs.Arrays) (jobs.Arrays, error) {
	if partial == nil {
		return nil, fmt.Errorf("jobs: a phase returned no partial")
	}
	for name := range partial { //lint:ordered any one reserved name is the same mistake
		if slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			return nil, fmt.Errorf("jobs: a phase returned an array named %q; its prefix is reserved", name)
		}
	}
	if len(s.shards) == 0 {
		return partial, nil
	}
	var rows []int64
	for _, shard := range s.shards {
		rows = append(rows, int64(shard.Source), int64(shard.Shard), shard.count)
	}
	samples, err := json.Marshal(s.samples)
	if err != nil {
		return nil, fmt.Errorf("jobs: samples of skipped records: %w", err)
	}
	partial = maps.Clone(partial)
	jobs.Put(partial, skippedShards, rows, len(s.shards), 3)
	jobs.Put(partial, skippedSamples, samples)
	return partial, nil
}

// detach is the inverse of attach.
func detach(partial jobs.Arrays) (jobs.Arrays, skips, error) {
	if _, ok := partial[skippedShards]; !ok {
		return partial, skips{}, nil
	}
	rows, err := jobs.Get[int64](partial, skippedShards, -1, 3)
	if err != nil {
		return nil, skips{}, err
	}
	samples, err := jobs.Get[uint8](partial, skippedSamples)
	if err != nil {
		return nil, skips{}, err
	}
	s, err := readSkips(rows, samples)
	if err != nil {
		return nil, skips{}, err
	}
	partial = maps.Clone(partial)
	delete(partial, skippedShards)
	delete(partial, skippedSamples)
	return partial, s, nil
}

func readSkips(rows []int64, samples []byte) (s skips, err error) {
	for ; len(rows) > 0; rows = rows[3:] {
		shard := shardSkips{place{jobs.Source(rows[0]), int(rows[1])}, rows[2]}
		last := len(s.shards) - 1
		if !shard.Source.Known() || shard.Shard < 0 || shard.count < 1 || last >= 0 &&
			s.shards[last].compare(shard.place) >= 0 {
			return s, jobs.Malformed("array %q does not count the skipped records of shards in order", skippedShards)
		}
		s.shards = append(s.shards, shard)
	}
	dec := json.NewDecoder(bytes.NewReader(samples))
	dec.DisallowUnknownFields()
	inOrder := func(a, b sample) int { return a.compare(b.place) }
	if dec.Decode(&s.samples) != nil || dec.More() || len(s.samples) > maxSkipSamples ||
		!slices.IsSortedFunc(s.samples, inOrder) {
		return s, jobs.Malformed("array %q does not list the first skipped records", skippedSamples)
	}
	return s, nil
}

// metrics tells people what was skipped, by data set.
func (s skips) metrics(phase string) (all []jobs.Metric, err error) {
	for from, name := range []string{jobs.Input: phase + ".skipped", jobs.Queries: phase + ".skipped.queries"} {
		n := s.count(jobs.Source(from))
		if n == 0 {
			continue
		}
		var named []dataset.Skip
		for _, x := range s.samples {
			if x.Source == jobs.Source(from) {
				named = append(named, x.Skip)
			}
		}
		samples, err := jobs.NewMetric(name+".samples", named)
		if err != nil {
			return nil, err
		}
		all = append(all, jobs.CountMetric(name+".count", n), samples)
	}
	return all, nil
}
