package dataset

import (
	"fmt"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// Bounds of a plan, so that one leaf never opens a million objects and one round
// never has more leaves than the coordinator can keep.
const (
	MaxShards         = 1_000_000
	MaxPiecesPerShard = 1_000
)

// Cut divides the manifest into shards of at most shardBytes stored bytes: a pure
// function of its arguments. Objects that fit are packed whole, in order; a larger plain
// object is cut into the fewest pieces that fit, equal to within a byte, each a
// shard; a compressed object is one piece, however large. Empty objects have no piece.
//
// compression is as in protocol.Input: "auto" takes objects by suffix (.gz is gzip)
// and refuses suffixes of compressions it does not read.
func Cut(m Manifest, shardBytes int64, compression string) ([]Shard, error) {
	return cut(m, shardBytes, compression, false)
}

// cut is Cut; with whole no object is cut.
func cut(m Manifest, shardBytes int64, compression string, whole bool) ([]Shard, error) {
	if shardBytes < 1 {
		return nil, inputFault(protocol.CodeSpecInvalid, m.URI, nil, fmt.Sprintf("shard_bytes is %d", shardBytes),
			"Use at least 1")
	}
	c := cutter{shardBytes: shardBytes}
	fits := true
	for i, o := range m.Objects {
		zipped, err := isGzip(o.Key, compression)
		if err != nil {
			return nil, err
		}
		fits = fits && c.add(i, o.Size, whole || zipped)
	}
	if fits = fits && c.flush(); !fits {
		return nil, inputFault(protocol.CodeInputLimit, m.URI, nil,
			fmt.Sprintf("shard_bytes of %d cuts the input into more than %d shards", shardBytes, MaxShards),
			"Raise spec.input.shard_bytes")
	}
	return c.shards, nil
}

type cutter struct {
	shardBytes int64
	shards     []Shard
	open       []Piece // the shard being packed
	filled     int64   // bytes in it
}

// add takes the next object; like flush and split it says whether the plan stays in bounds.
func (c *cutter) add(object int, size int64, whole bool) bool {
	if size == 0 {
		return true
	}
	if size > c.shardBytes && !whole {
		return c.flush() && c.split(object, size)
	}
	if c.filled > c.shardBytes-size || len(c.open) == MaxPiecesPerShard {
		if !c.flush() {
			return false
		}
	}
	c.open = append(c.open, Piece{Object: object, Start: 0, End: size})
	c.filled += size
	return true
}

func (c *cutter) flush() bool {
	if len(c.open) > 0 {
		c.shards = append(c.shards, Shard{Pieces: c.open})
	}
	c.open, c.filled = nil, 0
	return len(c.shards) <= MaxShards
}

func (c *cutter) split(object int, size int64) bool {
	n := (size-1)/c.shardBytes + 1
	if n > int64(MaxShards-len(c.shards)) {
		return false
	}
	bound := func(i int64) int64 { return i*(size/n) + min(i, size%n) }
	for i := range n {
		c.shards = append(c.shards, Shard{Pieces: []Piece{{Object: object, Start: bound(i), End: bound(i + 1)}}})
	}
	return true
}

// isGzip says how an object is to be read.
func isGzip(key, compression string) (bool, error) {
	switch compression {
	case "none":
		return false, nil
	case "gzip":
		return true, nil
	case "auto":
		return gzipBySuffix(key)
	}
	return false, inputFault(protocol.CodeSpecInvalid, key, nil,
		fmt.Sprintf("compression %q is not known", compression), "Use auto, none or gzip")
}

func gzipBySuffix(key string) (bool, error) {
	lower := strings.ToLower(key)
	for _, suffix := range []string{".zst", ".bz2", ".xz", ".lz4", ".zip", ".7z", ".br", ".lzma", ".snappy",
		".parquet"} {
		if strings.HasSuffix(lower, suffix) {
			return false, inputFault(protocol.CodeSpecInvalid, key, nil,
				fmt.Sprintf("objects ending in %q cannot be read", suffix),
				"Store the input plain or as gzip, or narrow spec.input.uri; compression: none reads the bytes as they are")
		}
	}
	return strings.HasSuffix(lower, ".gz") || strings.HasSuffix(lower, ".gzip"), nil
}

// IsGzip reports whether an object of a listed input is read as gzip, and so is one piece. compression is as in Cut.
func IsGzip(key, compression string) bool {
	zipped, err := isGzip(key, compression)
	return err == nil && zipped
}
