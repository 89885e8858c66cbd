package estimate

import (
	"fmt"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// rows tell of a data set.
func (v *Input) rows(size func(int64) string) [][2]string {
	listed := fmt.Sprintf("%s of %s", protocol.Counted(int64(v.Objects), "object"), size(v.Bytes))
	switch {
	case v.GzipObjects == v.Objects:
		listed += ", gzip"
	case v.GzipObjects > 0:
		listed += fmt.Sprintf(", %d of them gzip", v.GzipObjects)
	}
	if v.CompanionObjects > 0 {
		listed += fmt.Sprintf("; %s of labels or ids, %s", protocol.Counted(int64(v.CompanionObjects), "object"),
			size(v.CompanionBytes))
	}
	shards := fmt.Sprintf("%s, the largest of %s", protocol.Counted(int64(v.Shards), "shard"), size(v.LargestShard))
	switch v.OneShard {
	case byGzip:
		shards = "1 shard: gzip, and a compressed object is not cut"
	case bySize:
		shards = fmt.Sprintf("1 shard: all of it fits into shard_bytes (%v)", protocol.ByteSize(v.ShardBytes))
	case byFormat:
		shards = "1 shard: an object of format " + v.Format + " is not cut"
	default:
		if v.GzipObjects > 0 {
			shards += "; a gzip object is not cut"
		}
	}
	return [][2]string{
		{strings.TrimPrefix(v.DataSet, "spec."), v.URI}, {"", listed}, {"", shards}, {"", v.Records.text(size)},
		{"", fmt.Sprintf("a pass reads %s by about %s; planning takes %s", size(v.Pass.Bytes),
			protocol.Counted(v.Pass.Gets, "GET"), v.Planning.text())},
	}
}

func (r *Requests) text() string {
	var parts []string
	for _, part := range []struct {
		n    int64
		what string
	}{{r.Lists, "listing"}, {r.Heads, "HEAD"}, {r.Gets, "GET"}} {
		if part.n > 0 {
			parts = append(parts, protocol.Counted(part.n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

func (r *Records) text(size func(int64) string) string {
	if r.Exact {
		return protocol.Counted(r.Count, "record") + ", counted"
	}
	heads := "the head of 1 shard"
	if r.SampledShards > 1 {
		heads = fmt.Sprintf("the heads of %d shards", r.SampledShards)
	}
	return fmt.Sprintf("about %s: estimated from %d in %s, %s", protocol.Counted(r.Count, "record"), r.SampledRecords,
		size(r.SampledBytes), heads)
}

func (r *Rounds) text() string {
	phases := strings.Join(r.Phases, ", ")
	text := "not known: the data decide how often each phase runs, if at all; phases: " + phases
	switch {
	case r.Count > 0:
		text = fmt.Sprintf("%d: %s", r.Count, phases)
	case r.AtMost > 0:
		text = fmt.Sprintf("at most %d: the data decide how often each phase runs, if at all; phases: %s", r.AtMost,
			phases)
	}
	for _, b := range r.Bounds {
		text += fmt.Sprintf("; %s is %d", b.Param, b.Value)
	}
	return text
}

func (b *Busy) text(in Input) string {
	text := fmt.Sprintf("%s can be busy in the first round", protocol.Counted(int64(b.FirstRound), "worker slot"))
	if in.OneShard != "" {
		text += " (1 shard: " + in.OneShard + ")"
	}
	if b.Blocks > 0 {
		about := "about "
		if in.Records.Exact {
			about = ""
		}
		if b.BlocksMost {
			about = "at most " + about
		}
		text += fmt.Sprintf("; later rounds go by %s%s", about, protocol.Counted(b.Blocks, "logical block"))
	}
	if b.MaxWorkers > 0 {
		text += fmt.Sprintf("; spec.run.max_workers is %d", b.MaxWorkers)
	}
	return text
}

func (m *Memory) text(size func(int64) string) string {
	if m.StateAtLeast > 0 {
		return fmt.Sprintf("about %s for a task of the first round, with a state of %s at least; later ones are not known",
			size(m.FirstRound), size(m.StateAtLeast))
	}
	return fmt.Sprintf("about %s for a task of the first round; the state of later ones is not known",
		size(m.FirstRound))
}

func (o *Output) text() string {
	switch {
	case o.URI == "":
		return o.Says
	case o.Writable == Writable:
		return o.URI + ": can be written; " + o.Says
	case o.Writable == Refused:
		return o.URI + ": cannot be written: " + o.Says
	}
	return o.URI + ": " + o.Says
}
