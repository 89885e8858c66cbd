package dataset

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gram-compute/gram/dataset/mail"
	"github.com/gram-compute/gram/protocol"
)

// heldDocuments bounds the bytes of a block's documents, one excepted.
const heldDocuments = 1 << 20

// documentFormat reads objects that are one record each. Its identity is the object's key with
// offset 0.
type documentFormat struct {
	input *protocol.Input
	text  func(in *protocol.Input, object []byte) ([]byte, flaw)
}

func (f documentFormat) whole() bool { return true }

func (f documentFormat) read(r *shardReader, obj pinned, piece Piece, zipped bool) error {
	object, err := f.load(r, obj, piece, zipped)
	if err != nil {
		return err
	}
	key, bad := obj.obj.Key, flaw{reason: tooLong}
	if len(object) <= int(f.input.MaxRecordBytes) {
		bad = f.record(r, key, object)
	}
	switch {
	case bad.reason == "":
		err = r.keep(0)
	case r.skips > 0:
		err = r.skip(Skip{ID: ByPlace(key, 0), Reason: bad.reason})
	default:
		return f.fault(bad, key, object)
	}
	if err == nil && r.held >= heldDocuments {
		err = r.flush()
	}
	return err
}

// record appends the record to the block.
func (f documentFormat) record(r *shardReader, key string, object []byte) flaw {
	if !f.input.Label.IsZero() {
		folder, _, found := strings.Cut(key, "/")
		if !found {
			return flaw{reason: noFolder}
		}
		r.block.Labels = append(r.block.Labels, []byte(folder))
	}
	text, bad := f.text(f.input, object)
	if len(text) > int(f.input.MaxRecordBytes) {
		bad = flaw{reason: tooLong}
	}
	r.block.Texts = append(r.block.Texts, text)
	r.held += len(text)
	return bad
}

// load reads the decoded object, or one byte more than a record may have.
func (f documentFormat) load(r *shardReader, obj pinned, piece Piece, zipped bool) (_ []byte, err error) {
	stored := newPieceReader(r.ctx, obj, 0, piece.End)
	defer func() {
		if closed := stored.Close(); err == nil {
			err = StoreFault(obj.obj.Key, closed)
		}
	}()
	var in io.Reader = stored
	if zipped {
		if err := r.zip.reset(obj.obj, stored); err != nil {
			return nil, err
		}
		in = &r.zip
	}
	var object bytes.Buffer
	object.Grow(int(min(obj.obj.Size+bytes.MinRead, bufferBytes)))
	_, err = object.ReadFrom(io.LimitReader(in, int64(f.input.MaxRecordBytes)+1))
	return object.Bytes(), err
}

func (f documentFormat) fault(bad flaw, key string, object []byte) *protocol.Fault {
	fault := bad.fault(key, line{text: object[:min(len(object), len(gzipMagic))]})
	switch bad.reason {
	case tooLong:
		fault.Hint = "Raise spec.input.max_record_bytes; an object is one record of this format"
	case noFolder:
		fault.Hint = "Let spec.input.uri end above the folders of the classes, or leave out spec.input.label"
	}
	return fault
}

// plainDocument is an object that is text: UTF-8 without NUL.
func plainDocument(_ *protocol.Input, object []byte) ([]byte, flaw) {
	text, marks := trimMark(object, 0)
	if hasMark(text) {
		return text, flaw{reason: secondMark, at: marks, inLine: true}
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return text, flaw{reason: nulByte, at: marks + i, inLine: true}
	}
	if !utf8.Valid(text) {
		return text, flaw{reason: notUTF8, at: marks + firstInvalid(text), inLine: true}
	}
	return text, flaw{}
}

// mailDocument is the text of a mail, which every sequence of bytes has.
func mailDocument(in *protocol.Input, object []byte) ([]byte, flaw) {
	return mail.Text(object, in.MailHeaders), flaw{}
}
