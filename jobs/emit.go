package jobs

import "context"

// Emit writes an output file of the job, named relative to the model's folder, and returns what
// an index needs to find and verify it. The same name must always get the same bytes, because a
// file may be written more than once. CheckFileName defines the allowed names.
type Emit func(ctx context.Context, name string, data []byte) (File, error)

// File is an output file beside the model.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // in hexadecimal
	Size   int64  `json:"size"`
}

// IndexName is the name, within its folder, of the file that lists the others.
const IndexName = "index.json"
