package dataset

import "github.com/gram-compute/gram/protocol"

// format reads the records of one kind of file.
type format interface {
	// whole reports whether every object must be one piece: no record can be found from the middle.
	whole() bool
	// read gives the records of the piece to r, in order, and flushes r.
	read(r *shardReader, obj pinned, p Piece, zipped bool) error
}

// newFormat is the reader of a valid input's format.
func newFormat(in *protocol.Input) format {
	switch in.Format {
	case "csv":
		return lineFormat{in, newCSV}
	default:
		return lineFormat{in, newTSV}
	}
}
