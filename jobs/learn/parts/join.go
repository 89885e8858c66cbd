package parts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrDamaged is wrapped where an index or a part is not what was written.
var ErrDamaged = errors.New("damaged result")

// ReadIndex reads an index strictly.
func ReadIndex(data []byte) (Index, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var x Index
	if err := dec.Decode(&x); err != nil {
		return Index{}, fmt.Errorf("%w: index: %w", ErrDamaged, err)
	}
	if err := x.Parts.check(); err != nil {
		return Index{}, fmt.Errorf("%w: index: %w", ErrDamaged, err)
	}
	if x.SchemaVersion != 1 || x.Rows != x.Parts.Rows() {
		return Index{}, fmt.Errorf("%w: index: version %d with %d rows, the parts have %d", ErrDamaged, x.SchemaVersion,
			x.Rows, x.Parts.Rows())
	}
	return x, nil
}

// Joiner writes the parts of an index as one file. Add takes them in the index's order.
type Joiner struct {
	index Index
	out   io.Writer
	next  int
}

// NewJoiner begins a file of all parts.
func NewJoiner(x Index, out io.Writer) *Joiner { return &Joiner{index: x, out: out} }

// Add checks the next part against its digest and writes it: a CSV part without its header but
// for the first, an npy part below one header for all.
func (j *Joiner) Add(data []byte) error {
	p := j.index.Parts[j.next]
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != p.SHA256 {
		return fmt.Errorf("%w: %s has another SHA-256 than the index says", ErrDamaged, p.Name)
	}
	first := j.next == 0
	j.next++
	switch j.index.Format {
	case CSV:
		if !first {
			data = data[bytes.IndexByte(data, '\n')+1:]
		}
	case NPY:
		descr, cols, elements, err := splitNpy(data)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrDamaged, p.Name, err)
		}
		if data = elements; first {
			data = append(NPYHeader(descr, j.index.Rows, cols), elements...)
		}
	}
	_, err := j.out.Write(data)
	return err
}
