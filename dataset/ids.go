package dataset

import (
	"bufio"
	"encoding/binary"
	"strconv"
	"unicode/utf8"
)

// Ids in tables are whole numbers or, in npy, strings. A number is written in decimal, so that the 17 of an array and
// the 17 of a csv are one id.

// idTypes are the kinds of strings in npy: bytes, and characters of four bytes.
var idTypes = map[string]element{"|S": {'S', 1, binary.LittleEndian}, "<U": {'U', 4, binary.LittleEndian}}

// labelsHead reads the head of a table of labels: npy, or else the format of the data.
func labelsHead(data parseHead) parseHead {
	return func(head *bufio.Reader) (table, error) {
		if isNPY(head) {
			return parseNPY(head)
		}
		return data(head)
	}
}

func isNPY(head *bufio.Reader) bool {
	magic, err := head.Peek(len(npyMagic))
	return err == nil && string(magic) == npyMagic
}

// idsHead reads the head of a table of ids: npy, or else the format of the data.
func idsHead(data parseHead) parseHead {
	return func(head *bufio.Reader) (table, error) {
		if isNPY(head) {
			return parseNPYOf(head, npyID)
		}
		t, err := data(head)
		if err == nil {
			_, err = t.element.idType()
		}
		return t, err
	}
}

// npyID is the element type of an array of ids.
func npyID(descr string) (element, error) {
	if e, known := npyTypes[descr]; known {
		return e.idType()
	}
	if e, known := idTypes[descr[:min(2, len(descr))]]; known {
		n, err := strconv.Atoi(descr[2:])
		if err == nil && n >= 1 && n <= maxIDChars && strconv.Itoa(n) == descr[2:] {
			e.size *= n
			return e, nil
		}
	}
	return element{}, headFlawf("the ids are of type %.40q; whole numbers, and strings such as '|S8' or '<U8' of at "+
		"most %d characters, are read", descr, maxIDChars)
}

// maxIDChars bounds the declared length of strings; longer than any id, for what follows an id is zeros.
const maxIDChars = 1 << 16

func (e element) idType() (element, error) {
	if e.kind == 'i' || e.kind == 'u' {
		return e, nil
	}
	return e, headFlaw("the ids are no whole numbers; keep ids as integers, or as strings in npy")
}

// id appends a record's id.
func (e element) id(to, row []byte) (id []byte, bad flaw) {
	switch e.kind {
	case 'u':
		return strconv.AppendUint(to, e.unsigned(row), 10), flaw{}
	case 'i':
		return strconv.AppendInt(to, e.signed(row), 10), flaw{}
	case 'S':
		id = append(to, row[:e.size]...)
	case 'U':
		for at := 0; at < e.size; at += 4 {
			c := e.order.Uint32(row[at:])
			if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
				return to, flaw{reason: notUTF8}
			}
			id = utf8.AppendRune(id, rune(c))
		}
		id = append(to, id...)
	}
	for len(id) > 0 && id[len(id)-1] == 0 { // numpy pads with zeros
		id = id[:len(id)-1]
	}
	return id, checkID(id, -1)
}
