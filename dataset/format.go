package dataset

import (
	"encoding/binary"

	"github.com/gram-compute/gram/protocol"
)

// format reads the records of one kind of file.
type format interface {
	// whole reports whether every object must be one piece: no record can be found from the middle.
	whole() bool
	// read gives the records of the piece to r, in order. Unless they are in memory of their own, it flushes r.
	read(r *shardReader, obj pinned, p Piece, zipped bool) error
}

// formatKind is what is known of a format, and how to read it.
type formatKind struct {
	open func(*protocol.Input) format
	// numbered: records are named by their rows; those of other formats by the byte they begin at.
	numbered bool
	// times is how much larger than stored records may be when they are decoded, vectors as float32.
	times int64
}

// newFormat is the reader of a valid input's format.
func newFormat(in *protocol.Input) format { return kindOf(in.Format).open(in) }

// kindOf is the format of a name; another name, or none, stands for tsv.
func kindOf(name string) formatKind {
	switch name {
	case "csv":
		return asLines(newCSV, 2) // "1," is a number
	case "libsvm":
		return asLines(newLibSVM, 2)
	case "jsonl":
		return asLines(newJSONL, 2)
	case "document":
		return asDocuments(plainDocument, 1)
	case "mail":
		return asDocuments(mailDocument, 3) // a byte of another charset is up to three of UTF-8
	case "idx":
		return asRows(parseIDX, 4) // of bytes, mostly
	case "npy":
		return asRows(parseNPY, 1)
	case "npz":
		return formatKind{func(in *protocol.Input) format { return npzFormat{in} }, true, 1}
	case "fvecs":
		return asRows(vecsOf(element{'f', 4, binary.LittleEndian}), 1)
	case "bvecs":
		return asRows(vecsOf(element{'u', 1, binary.LittleEndian}), 4)
	case "ivecs":
		return asRows(vecsOf(element{'i', 4, binary.LittleEndian}), 1)
	}
	return asLines(newTSV, 1)
}

func asLines(parser newParser, times int64) formatKind {
	return formatKind{open: func(in *protocol.Input) format { return lineFormat{in, parser} }, times: times}
}

func asDocuments(text func(*protocol.Input, []byte) ([]byte, flaw), times int64) formatKind {
	return formatKind{open: func(in *protocol.Input) format { return documentFormat{in, text} }, times: times}
}

func asRows(head parseHead, times int64) formatKind {
	return formatKind{func(*protocol.Input) format { return rowFormat{head} }, true, times}
}

// CountsRows reports whether records of a format are named by their rows, and not by the byte they begin at.
func CountsRows(format string) bool { return kindOf(format).numbered }

// packedTimes is how much larger than stored compressed data are taken to be.
const packedTimes = 4

// filledTimes is how much larger than their entries dense vectors of libsvm are taken to be.
const filledTimes = 16

// DecodedBytes estimates what the records in some bytes of an object take when they are decoded: vectors as float32,
// texts as they are. Where that cannot be told it rather says too much.
func DecodedBytes(in *protocol.Input, key string, bytes int64) int64 {
	zipped, err := isGzip(key, in.Compression)
	if err == nil && zipped || in.Format == "npz" {
		bytes *= packedTimes
	}
	if in.Dense {
		bytes *= filledTimes
	}
	return bytes * kindOf(in.Format).times
}
