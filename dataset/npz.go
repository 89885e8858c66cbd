package dataset

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/klauspost/compress/flate"

	"github.com/gram-compute/gram/protocol"
)

// maxNPZDirectory bounds what is read of a zip's directory.
const maxNPZDirectory = 16 << 20

// npzFormat reads arrays of a .npz object: a zip of .npy files, stored or deflated.
type npzFormat struct{ input *protocol.Input }

func (f npzFormat) whole() bool { return true }

func (f npzFormat) read(r *shardReader, obj pinned, _ Piece, zipped bool) (err error) {
	in := &objectAt{ctx: r.ctx, obj: obj}
	directory, err := f.directory(in, zipped)
	if err != nil {
		return err
	}
	data, err := f.open(r, in, directory, f.input.Features[0].Name, parseNPY)
	if err != nil {
		return err
	}
	defer data.close(&err)
	with := rowTables{data: data}
	if name := f.input.Label.Name; name != "" {
		if with.labels, err = f.open(r, in, directory, name, parseNPY); err != nil {
			return err
		}
		defer with.labels.close(&err)
	}
	if name := f.input.ID.Name; name != "" {
		if with.ids, err = f.open(r, in, directory, name, idsHead(parseNPY)); err != nil {
			return err
		}
		defer with.ids.close(&err)
	}
	if err := with.match(); err != nil {
		return err
	}
	return r.rows(with, 0, data.rows)
}

// directory reads what lists the arrays.
func (f npzFormat) directory(in *objectAt, zipped bool) (*zip.Reader, error) {
	if zipped {
		return nil, headFault(in.obj, protocol.CodeSpecInvalid, "an .npz within gzip cannot be read")
	}
	directory, err := zip.NewReader(in, in.obj.obj.Size)
	if err != nil {
		return nil, f.damaged(in.obj, err)
	}
	if name := twice(directory); name != "" {
		return nil, headFault(in.obj, protocol.CodeBadRecord,
			"the zip holds %.80q twice, and readers differ in which they take", name)
	}
	return directory, nil
}

// count is the number of rows.
func (f npzFormat) count(r *shardReader, obj pinned, zipped bool) (rows int64, err error) {
	in := &objectAt{ctx: r.ctx, obj: obj}
	directory, err := f.directory(in, zipped)
	if err != nil {
		return 0, err
	}
	data, err := f.open(r, in, directory, f.input.Features[0].Name, parseNPY)
	if err != nil {
		return 0, err
	}
	defer data.close(&err)
	return data.rows, nil
}

// damaged returns the store's fault, or else that the object is not a zip.
func (f npzFormat) damaged(obj pinned, err error) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) {
		return fault
	}
	if ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded); ended {
		return err
	}
	return headFault(obj, protocol.CodeBadRecord, "the zip cannot be read: %v", err)
}

// open opens the array of a name.
func (f npzFormat) open(
	r *shardReader, at *objectAt, directory *zip.Reader, name string, head parseHead,
) (*rowStream, error) {
	obj := at.obj
	member, err := f.find(obj, directory, name)
	if err != nil {
		return nil, err
	}
	offset, err := member.DataOffset()
	if err != nil {
		return nil, f.damaged(obj, err)
	}
	if err := at.checkName(member.Name, offset); err != nil {
		return nil, f.damaged(obj, err)
	}
	packed, plain := member.CompressedSize64, member.UncompressedSize64
	end, carry := bits.Add64(uint64(offset), packed, 0)
	if packed == 0 || carry != 0 || end > uint64(obj.obj.Size) {
		return nil, headFault(obj, protocol.CodeBadRecord, "the array %q lies beyond the object", name)
	}
	if plain > uint64(decodedLimit(int64(packed))) {
		return nil, headFault(obj, protocol.CodeInputLimit, "the array %q has %d bytes packed into %d", name, plain,
			packed)
	}
	stored := newPieceReader(r.ctx, obj, offset, offset+int64(packed))
	in := &npzMember{obj: obj, sum: crc32.NewIEEE(), want: member.CRC32}
	in.in.r = io.LimitReader(stored, int64(packed))
	in.plain = &in.in
	if member.Method == zip.Deflate {
		in.plain = flate.NewReader(&in.in)
	}
	s := &rowStream{obj: obj, r: r, stored: stored, packed: true, check: in.check}
	if err := s.open(in, head); err != nil {
		return nil, errors.Join(err, stored.Close())
	}
	if err := s.checkSize(int64(plain)); err != nil {
		return nil, errors.Join(err, stored.Close())
	}
	return s, nil
}

func (f npzFormat) find(obj pinned, directory *zip.Reader, name string) (*zip.File, error) {
	names := make([][]byte, 0, len(directory.File))
	for _, member := range directory.File {
		if member.Name == name+".npy" {
			if member.Method != zip.Store && member.Method != zip.Deflate {
				return nil, headFault(obj, protocol.CodeBadRecord, "the array %q is packed by the method %d", name,
					member.Method)
			}
			return member, nil
		}
		if n, ok := trimNPY(member.Name); ok {
			names = append(names, []byte(n))
		}
	}
	return nil, headFault(obj, protocol.CodeSpecInvalid, "there is no array %q%s", name, suggest(name, names))
}

func trimNPY(name string) (string, bool) {
	n := len(name) - len(".npy")
	if n < 0 || name[n:] != ".npy" {
		return "", false
	}
	return name[:n], true
}

// npzMember is the content of one file of the zip; its checksum is held at the end.
type npzMember struct {
	obj   pinned
	in    stickyReader
	plain io.Reader
	sum   hash.Hash32
	want  uint32
}

func (m *npzMember) Read(p []byte) (int, error) {
	n, err := m.plain.Read(p)
	m.sum.Write(p[:n]) // never fails
	if err == nil || err == io.EOF {
		return n, err
	}
	if m.in.err != nil {
		return n, m.in.err
	}
	return n, headFault(m.obj, protocol.CodeBadRecord, "an array is damaged: %v", err)
}

func (m *npzMember) check() error {
	if m.sum.Sum32() != m.want {
		return headFault(m.obj, protocol.CodeBadRecord, "an array is damaged: its checksum is wrong")
	}
	return nil
}

// objectAt reads a zip's directory from a pinned object.
type objectAt struct {
	ctx  context.Context
	obj  pinned
	read int64
	last int64 // where the last read began
}

// checkName compares the name in the header before a member's data with that of the directory. The member's
// DataOffset, which found the data, has just read that header.
func (o *objectAt) checkName(name string, data int64) error {
	const fixed = 30 // bytes of the header before the name
	at := o.last
	header := make([]byte, fixed+len(name))
	if _, err := o.ReadAt(header, at); err != nil {
		return err
	}
	nameBytes, extraBytes := int64(binary.LittleEndian.Uint16(header[26:])),
		int64(binary.LittleEndian.Uint16(header[28:]))
	if at+fixed+nameBytes+extraBytes != data || nameBytes != int64(len(name)) || string(header[fixed:]) != name {
		return fmt.Errorf("the directory calls an array %.80q, and the header before its data calls it otherwise", name)
	}
	return nil
}

// twice is a name that stands more than once in the directory, or "".
func twice(directory *zip.Reader) string {
	seen := make(map[string]bool, len(directory.File))
	for _, member := range directory.File {
		if seen[member.Name] {
			return member.Name
		}
		seen[member.Name] = true
	}
	return ""
}

func (o *objectAt) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= o.obj.obj.Size {
		return 0, io.EOF
	}
	o.last = off
	n := min(int64(len(p)), o.obj.obj.Size-off)
	if o.read += n; o.read > maxNPZDirectory {
		return 0, fmt.Errorf("its directory has more than %d bytes", maxNPZDirectory)
	}
	body, err := o.obj.open(o.ctx, off, off+n)
	if err != nil {
		return 0, err
	}
	read, err := io.ReadFull(body, p[:n])
	if err = errors.Join(err, body.Close()); err == nil && read < len(p) {
		err = io.EOF
	}
	return read, err
}
