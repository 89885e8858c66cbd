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

// newFormat is the reader of a valid input's format.
func newFormat(in *protocol.Input) format {
	switch in.Format {
	case "csv":
		return lineFormat{in, newCSV}
	case "libsvm":
		return lineFormat{in, newLibSVM}
	case "jsonl":
		return lineFormat{in, newJSONL}
	case "document":
		return documentFormat{in, plainDocument}
	case "mail":
		return documentFormat{in, mailDocument}
	case "idx":
		return rowFormat{parseIDX}
	case "npy":
		return rowFormat{parseNPY}
	case "npz":
		return npzFormat{in}
	case "fvecs":
		return rowFormat{vecsOf(element{'f', 4, binary.LittleEndian})}
	case "bvecs":
		return rowFormat{vecsOf(element{'u', 1, binary.LittleEndian})}
	case "ivecs":
		return rowFormat{vecsOf(element{'i', 4, binary.LittleEndian})}
	default:
		return lineFormat{in, newTSV}
	}
}
