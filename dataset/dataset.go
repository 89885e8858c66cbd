// Package dataset turns a URI into a manifest, a manifest into shards, and a
// shard into blocks of records.
//
//	URI --List--> Manifest --Cut--> []Shard --Source.Blocks--> *Block
//
// Plan does List and Cut as an input wants them; docs/formats.md describes the formats.
package dataset

import "github.com/gram-compute/gram/objstore"

// Object is one input object as it was when the manifest was made.
type Object struct {
	Key       string `json:"key"`  // relative to the input's prefix
	Size      int64  `json:"size"` // stored bytes
	ETag      string `json:"etag"`
	VersionID string `json:"version_id,omitempty"`
	// Digest is what the store says of all its bytes, where reading can verify it; see Integrity.
	Digest objstore.Digest `json:"digest,omitempty"`
	// Rows is how many rows the object has, where its format counts them; see Manifest.Counted.
	Rows int64 `json:"rows,omitempty"`
}

// Manifest is the input, listed once, in byte order of key.
type Manifest struct {
	URI     string   `json:"uri"`
	Objects []Object `json:"objects"`
	Labels  []Object `json:"labels,omitempty"` // of labels_uri: one for each of Objects, or none
	IDs     []Object `json:"ids,omitempty"`    // of ids_uri: one for each of Objects, or none
	// Counted reports that the Rows of Objects are known. Formats that count rows cannot be read without them.
	Counted bool `json:"counted,omitempty"`
}

// Piece is a byte range [Start, End) of the stored bytes of one object. A record
// belongs to the piece in which its first byte lies. A compressed object is one piece.
type Piece struct {
	Object int   `json:"object"` // index into Manifest.Objects
	Start  int64 `json:"start"`
	End    int64 `json:"end"`
}

// Shard is what one leaf reads: pieces in manifest order.
type Shard struct {
	Pieces []Piece `json:"pieces"`
}

// Block is a batch of records of one shard, in order, together with what was
// skipped while reading them. Which of the fields are filled in follows from the input's
// format; those that are have an entry for every record. Its slices are valid until the next block, unless it is
// Lasting.
type Block struct {
	IDs []Identity
	// Places are where the records lie, by place or, in formats that count rows, by the row within the object. They are
	// nil unless the records are named by ids.
	Places  []Identity
	Labels  [][]byte  // nil where the input has no labels
	Texts   [][]byte  // nil where the records are not texts
	Weights []float32 // nil where every record weighs 1
	// Groups are the hashes of the values of spec.input.split.group; nil without it.
	Groups []uint64
	// Folds are the numbers of the records' folds, from 1, which a job has dealt; nil in what a reader yields.
	Folds  []uint8
	Dense  Dense
	Sparse Sparse
	// Categories are of the columns spec.input.categorical, beside Dense.
	Categories Categories
	Skipped    []Skip // bad records met, under on_bad_record
	Notes      *Notes // what the reader noticed; nil where there is nothing to say. It stays as it is
	// Subtracted are the offsets that spec.input.subtract took off the vectors; by column, ascending. It stays as it
	// is.
	Subtracted []Offset
	Lasting    bool // its slices stay as they are after the next block too: they may be kept
	// Rest is how many records follow in the object's part of the shard, at most, where the bytes present
	// tell beforehand; else 0. Who gathers records may take their memory at once.
	Rest  int
	Memo  Memo // for later passes over the block
	watch watch
	id    []byte // of the record that is being read, where records have ids
}

// Dense vectors lie row after row. A Width of 0 stands for none.
type Dense struct {
	Width  int
	Values []float32 // records x Width
}

// Row returns the vector of record i.
func (d Dense) Row(i int) []float32 { return d.Values[i*d.Width : (i+1)*d.Width] }

// Sparse vectors are compressed rows (CSR): record i has Indptr[i+1]-Indptr[i] entries, indices
// counted from 0 and ascending. A Width of 0 stands for none.
type Sparse struct {
	Width   int
	Indptr  []int
	Indices []int32
	Values  []float32
}

// Row returns the indices and the values of record i.
func (s Sparse) Row(i int) ([]int32, []float32) {
	begin, end := s.Indptr[i], s.Indptr[i+1]
	return s.Indices[begin:end], s.Values[begin:end]
}

// Categories lie row after row. A Width of 0 stands for none.
type Categories struct {
	Width  int
	Values [][]byte // records x Width
}

// Row returns the categories of record i.
func (c Categories) Row(i int) [][]byte { return c.Values[i*c.Width : (i+1)*c.Width] }

// extend makes room for the categories of a record, of the given width.
func (c *Categories) extend(width int) {
	c.Width = width
	for range width {
		c.Values = append(c.Values, nil)
	}
}

// Skip is one bad record that the spec let pass.
type Skip struct {
	ID     Identity `json:"id"` // its place
	Line   int64    `json:"line,omitempty"`
	Column int      `json:"column,omitempty"`
	Reason string   `json:"reason"` // never the content
}
