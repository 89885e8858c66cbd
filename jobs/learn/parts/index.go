package parts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gram-compute/gram/jobs"
)

// Part is one output object.
type Part struct {
	jobs.File
	Rows int64 `json:"rows"`
}

// List is parts in the order of their rows. In arrays it has the names "parts", "parts.sha256",
// "parts.size" and "parts.rows".
type List []Part

// Write encodes a table, emits it as part number leaf of a folder and returns a list of that part.
func Write(ctx context.Context, emit jobs.Emit, folder string, leaf int, format string, t Table) (List, error) {
	return write(ctx, emit, fmt.Sprintf("%s/part-%06d", folder, leaf), format, t)
}

// WriteNext is Write for a leaf that writes several parts, numbered from 0: the first has the name that Write gives.
func WriteNext(
	ctx context.Context, emit jobs.Emit, folder string, leaf, number int, format string, t Table,
) (List, error) {
	if number == 0 {
		return Write(ctx, emit, folder, leaf, format, t)
	}
	return write(ctx, emit, fmt.Sprintf("%s/part-%06d-%06d", folder, leaf, number), format, t)
}

func write(ctx context.Context, emit jobs.Emit, stem, format string, t Table) (List, error) {
	data, err := t.Encode(format)
	if err != nil {
		return nil, err
	}
	file, err := emit(ctx, stem+"."+format, data)
	if err != nil {
		return nil, err
	}
	return List{{file, int64(t.Rows())}}, nil
}

// Fields lists the parts in columns.
func (l *List) Fields(f *jobs.Fields) { l.FieldsAs(f, "parts") }

// FieldsAs is Fields where another name stands for "parts": partials with several lists need one for each.
func (l *List) FieldsAs(f *jobs.Fields, name string) {
	var names, sums jobs.Strings
	sizes, rows := make([]int64, len(*l)), make([]int64, len(*l))
	for i, p := range *l {
		names.Append([]byte(p.Name))
		sums.Append([]byte(p.SHA256))
		sizes[i], rows[i] = p.Size, p.Rows
	}
	f.Strings(name, &names)
	f.Strings(name+".sha256", &sums)
	n := names.Len()
	f.Require(sums.Len() == n, "%d parts with %d digests", n, sums.Len())
	jobs.List(f, name+".size", &sizes, n)
	jobs.List(f, name+".rows", &rows, n)
	if !f.Reading() {
		return
	}
	*l = make(List, n)
	for i := range n {
		(*l)[i] = Part{jobs.File{Name: string(names.At(i)), SHA256: string(sums.At(i)), Size: sizes[i]}, rows[i]}
	}
	f.Check(l.check)
}

// ReadList reads a list of parts; anything else is a *protocol.Fault of CodeCorrupt.
func ReadList(a jobs.Arrays) (List, error) {
	l, err := jobs.Read(a, &List{})
	if err != nil {
		return nil, err
	}
	return *l, nil
}

func (l List) check() error {
	total := int64(0)
	for _, p := range l {
		if p.Rows < 0 || p.Size < 0 || p.Rows > math.MaxInt64-total {
			return jobs.Malformed("the part %q has %d rows and %d bytes", p.Name, p.Rows, p.Size)
		}
		total += p.Rows
	}
	return nil
}

// Rows is the number of rows in all parts.
func (l List) Rows() int64 {
	total := int64(0)
	for _, p := range l {
		total += p.Rows
	}
	return total
}

// Index tells a reader what the parts of a folder are: <folder>/index.json.
type Index struct {
	SchemaVersion int      `json:"schema_version"`
	Format        string   `json:"format"`
	Columns       []string `json:"columns"`
	Labels        []string `json:"labels,omitempty"` // what the numbers of a column of classes stand for
	Rows          int64    `json:"rows"`
	Parts         List     `json:"parts"`
}

// IndexName is the name of an index within its folder.
const IndexName = jobs.IndexName

// WriteIndex emits the index of a folder.
func WriteIndex(ctx context.Context, emit jobs.Emit, folder string, x Index) (jobs.File, error) {
	x.SchemaVersion, x.Rows = 1, x.Parts.Rows()
	data, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return jobs.File{}, fmt.Errorf("parts: encode the index: %w", err)
	}
	return emit(ctx, folder+"/"+IndexName, append(data, '\n'))
}

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
