package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/gram-compute/gram/protocol"
)

// flaw is what makes a line a bad record. The zero value means a good record.
type flaw struct {
	reason string  // never the content
	column int     // from 1; 0 where no column is at fault
	at     int     // byte within the field, of a quote within the line; where it matters
	inLine bool    // at is a byte of the line, and where the fault is
	path   string  // of the JSON value at fault
	have   int     // columns there are, for tooFew and tooMany
	more   *detail // for the message only
	final  bool    // what follows cannot be told apart, so the record cannot be skipped
}

// detail is what only the message of a fault says of a flaw.
type detail struct {
	text  string // the field that is not a number, shortened
	empty bool   // it is empty
	want  int    // columns that the first record of the object has, for tooFew and tooMany
}

const (
	tooFew         = "too few columns"
	tooMany        = "too many columns"
	emptyLabel     = "the label is empty"
	emptyCategory  = "the category is empty"
	emptyID        = "the id is empty"
	emptyGroup     = "the value that groups records is empty"
	notGroup       = "the value that groups records is neither a string, a number, true nor false"
	longID         = "the id has more than 128 bytes"
	noID           = "the line has no comment, which holds its id"
	notID          = "the id is neither a string nor an integer"
	notUTF8        = "not valid UTF-8"
	nulByte        = "a NUL byte"
	bareQuote      = "a quote in a field that does not begin with one"
	afterQuote     = "text after a closing quote"
	bareReturn     = "a carriage return inside the line"
	secondMark     = "a byte order mark that is not the start of the object"
	openQuote      = "a quoted field is open at the end of the line"
	notNumber      = "not a decimal number"
	notFinite      = "not a finite number"
	notBool        = "a bool that is neither 0 nor 1"
	twoSigns       = "the label has two signs"
	beyond32       = "beyond the range of float32"
	differs32      = "spec.input.subtract takes it beyond the range of float32"
	badWeight      = "a weight must not be negative"
	twoUses        = "a column is used twice, by number and by name"
	noSubtract     = "spec.input.subtract names no number of the vector so"
	noFeatures     = "no column is left for the features"
	badNumberLabel = "the label is not a finite number"
	badNumberName  = "the category is not a finite number"
	otherWidth     = "the vector declares another width"
	noLabel        = "the line does not begin with a label"
	badPair        = "not an index:value pair"
	badIndex       = "not an index from index_base to width"
	notAscends     = "the indices do not ascend"
	badJSON        = "not one JSON value (RFC 8259)"
	notObject      = "not a JSON object"
	notThere       = "the value is missing or null"
	twiceThere     = "a value stands twice"
	notScalar      = "the label is neither a string, a number, true nor false"
	notCategory    = "the category is neither a string, a number, true nor false"
	notString      = "the text is not a string"
	noNumbers      = "no number is left for the features"
	otherLength    = "not as many numbers as in the object's first record"
	noFolder       = "the object lies in no folder that could be its label"
	tooLong        = "longer than max_record_bytes"
	byteOrder      = "\uFEFF"
	gzipMagic      = "\x1f\x8b"
	hintRecord     = "Mend the record, or let some pass with spec.input.on_bad_record.skip_max"
	hintGzip       = "The object looks like gzip; set spec.input.compression: gzip"
	hintOpen       = "Mend the quote, or set spec.input.multiline: true if fields may hold line ends"
	hintFirst      = "The first record of an object says how many columns it has; mend it, or correct spec.input"
	hintReturn     = "Lines must end in LF or CRLF; convert the file (tr '\\r' '\\n' if they end in CR alone), or quote the field in csv"
	hintMark       = "Remove it: files that were joined keep the marks of each"
	hintNumber     = "List the text in spec.input.missing if it stands for a missing number. Else write a number, leave the column out with " +
		"spec.input.features, or let such records pass with spec.input.on_bad_record.skip_max"
	hintCategory = "List \"\" in spec.input.missing if an empty category is one of its own. Else mend the record, or let such " +
		"records pass with spec.input.on_bad_record.skip_max"
	hintTooLong = "Raise spec.input.max_record_bytes, or check that the lines end in LF"
)

// checkLabel is checkField for a label, which must not be empty.
func checkLabel(label []byte, col int) flaw {
	if len(label) == 0 {
		return flaw{reason: emptyLabel, column: col + 1}
	}
	return checkField(label, col)
}

// checkID is checkField for an id, which must not be empty either, nor long.
func checkID(id []byte, col int) flaw {
	switch {
	case len(id) == 0:
		return flaw{reason: emptyID, column: col + 1}
	case len(id) > protocol.MaxIDBytes:
		return flaw{reason: longID, column: col + 1}
	}
	return checkField(id, col)
}

func checkField(field []byte, col int) flaw {
	if i := bytes.IndexByte(field, 0); i >= 0 {
		return flaw{reason: nulByte, column: col + 1, at: i}
	}
	if !utf8.Valid(field) {
		return flaw{reason: notUTF8, column: col + 1, at: firstInvalid(field)}
	}
	return flaw{}
}

// firstInvalid returns the index of the first byte that is not UTF-8, or the field's length.
func firstInvalid(field []byte) int {
	for rest := field; ; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n != 3 { // U+FFFD itself has three bytes; n is 0 at the end
			return len(field) - len(rest)
		}
		rest = rest[n:]
	}
}

// fault is the flaw as the error of a line.
func (f flaw) fault(object string, ln line) *protocol.Fault {
	code, hint := protocol.CodeBadRecord, hintRecord
	what := f.reason
	if f.final {
		hint = hintFirst
	}
	switch f.reason {
	case tooFew, tooMany:
		what = f.counts()
	case notNumber, notFinite:
		what, hint = f.aboutNumber(), cmp.Or(finalHint(f.final), hintNumber)
	case emptyCategory:
		hint = cmp.Or(finalHint(f.final), hintCategory)
	case bareReturn:
		hint = hintReturn
	case secondMark:
		hint = hintMark
	case twoUses, noFeatures, noSubtract:
		code = protocol.CodeSpecInvalid
	case notUTF8, nulByte:
		if f.inLine {
			break
		}
		what = fmt.Sprintf("%s at byte %d of the field", f.reason, f.at)
	case tooLong:
		code, hint = protocol.CodeInputLimit, hintTooLong
		what = "the record is " + f.reason
	}
	if ln.off == 0 && bytes.HasPrefix(ln.text, []byte(gzipMagic)) {
		hint = hintGzip
	}
	offset := ln.off
	if f.inLine || f.reason == openQuote {
		offset += int64(f.at)
	}
	if f.reason == openQuote {
		hint = hintOpen
	}
	if f.path != "" {
		what = fmt.Sprintf("%q: %s", f.path, what)
	}
	return inputFault(code, object, nil, what, hint).WithOffset(offset).At(ln.number, f.column)
}

// counts says how many columns a line has, and how many it should have.
func (f flaw) counts() string {
	if f.more != nil {
		return fmt.Sprintf("%s: the line has %d, the first record of the object has %d", f.reason, f.have, f.more.want)
	}
	return fmt.Sprintf("%s: the line has %d, column %d is wanted", f.reason, f.have, f.column)
}

// aboutNumber shows the text that is not a number, where the reader kept it.
func (f flaw) aboutNumber() string {
	switch {
	case f.more == nil:
	case f.more.text != "":
		return fmt.Sprintf("%q is %s", f.more.text, f.reason)
	case f.more.empty:
		return "the field is empty, " + f.reason
	}
	return f.reason
}

// finalHint is what to do about a flaw of the first record of an object.
func finalHint(final bool) string {
	if final {
		return hintFirst
	}
	return ""
}

// shifted is the flaw in a line that had n more bytes in front.
func (f flaw) shifted(n int) flaw {
	if f.reason == openQuote || f.inLine {
		f.at += n
	}
	return f
}
