package dataset

import (
	"bufio"
	"encoding/binary"
	"io"
	"strconv"
	"strings"
)

// npyMagic begins a .npy object.
const npyMagic = "\x93NUMPY"

// maxNPYHeader bounds a header; numpy writes 118 bytes.
const maxNPYHeader = 64 << 10

// npyTypes are the element types that are read, as numpy describes them.
var npyTypes = map[string]element{
	"<f4": {'f', 4, binary.LittleEndian}, "<f8": {'f', 8, binary.LittleEndian},
	"|u1": {'u', 1, binary.LittleEndian}, "|b1": {'b', 1, binary.LittleEndian}, "<u2": {'u', 2, binary.LittleEndian},
	"<u4": {'u', 4, binary.LittleEndian}, "<u8": {'u', 8, binary.LittleEndian},
	"|i1": {'i', 1, binary.LittleEndian}, "<i2": {'i', 2, binary.LittleEndian},
	"<i4": {'i', 4, binary.LittleEndian}, "<i8": {'i', 8, binary.LittleEndian},
}

// parseNPY reads the head of a .npy object (NEP 1): magic, version, length and a Python literal
// with descr, fortran_order and shape. The first dimension counts rows; the others are flattened.
func parseNPY(head *bufio.Reader) (table, error) { return parseNPYOf(head, npyNumber) }

func parseNPYOf(head *bufio.Reader, known func(descr string) (element, error)) (table, error) {
	var magic [8]byte
	if _, err := io.ReadFull(head, magic[:]); err != nil {
		return table{}, err
	}
	if string(magic[:6]) != npyMagic || magic[6] < 1 || magic[6] > 3 || magic[7] != 0 {
		return table{}, headFlawf("% x is not how a .npy object of version 1, 2 or 3 begins", magic)
	}
	length := make([]byte, 2)
	if magic[6] > 1 {
		length = make([]byte, 4)
	}
	if _, err := io.ReadFull(head, length); err != nil {
		return table{}, err
	}
	n := int64(binary.LittleEndian.Uint16(length))
	if len(length) == 4 {
		n = int64(binary.LittleEndian.Uint32(length))
	}
	if n > maxNPYHeader {
		return table{}, headFlawf("the header declares a length of %d; at most %d are read", n, maxNPYHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(head, text); err != nil {
		return table{}, err
	}
	p := npyHeader{text: string(text)}
	if !p.dict() {
		return table{}, headFlaw("the header is not {'descr': ..., 'fortran_order': ..., 'shape': ...}")
	}
	return p.table(int64(len(magic)+len(length))+n, known)
}

// npyNumber is the element type of an array of numbers.
func npyNumber(descr string) (element, error) {
	if e, known := npyTypes[descr]; known {
		return e, nil
	}
	return element{}, headFlawf(
		"the array is of type %.40q; little-endian numbers such as '<f4', '<f8', '|u1' or '<i8' are read", descr)
}

// npyHeader is the header's literal, read as the only form that numpy writes; nothing is evaluated.
type npyHeader struct {
	text    string // still to be read
	descr   string
	fortran bool
	shape   []int64
}

func (p *npyHeader) table(head int64, known func(descr string) (element, error)) (table, error) {
	e, err := known(p.descr)
	switch {
	case err != nil:
		return table{}, err
	case p.fortran:
		return table{}, headFlaw("the array is in Fortran order; save numpy.ascontiguousarray(array)")
	case len(p.shape) == 0:
		return table{}, headFlaw("the array has no dimension")
	}
	return tableOf(p.shape, e, head)
}

// dict reads the three entries, in any order, each once.
func (p *npyHeader) dict() bool {
	seen := map[string]bool{}
	if !p.token("{") {
		return false
	}
	for !p.token("}") {
		key, ok := p.quoted()
		if !ok || seen[key] || !p.token(":") || !p.value(key) {
			return false
		}
		seen[key] = true
		if !p.token(",") {
			if !p.token("}") {
				return false
			}
			break
		}
	}
	return len(seen) == 3 && strings.Trim(p.text, " \n") == ""
}

func (p *npyHeader) value(key string) (ok bool) {
	switch key {
	case "descr":
		p.descr, ok = p.quoted()
	case "fortran_order":
		p.fortran = p.token("True")
		ok = p.fortran || p.token("False")
	case "shape":
		ok = p.tuple()
	}
	return ok
}

// token takes t, and spaces before it, off the text if it is there.
func (p *npyHeader) token(t string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(p.text, " "), t)
	if ok {
		p.text = rest
	}
	return ok
}

func (p *npyHeader) quoted() (string, bool) {
	if !p.token("'") {
		return "", false
	}
	s, rest, ok := strings.Cut(p.text, "'")
	p.text = rest
	return s, ok && !strings.ContainsAny(s, "\\\n\"")
}

func (p *npyHeader) tuple() bool {
	if !p.token("(") {
		return false
	}
	for !p.token(")") {
		p.token("")
		p.text = strings.TrimLeft(p.text, " ")
		n := len(p.text) - len(strings.TrimLeft(p.text, "0123456789"))
		dim, err := strconv.ParseInt(p.text[:n], 10, 64)
		if err != nil || len(p.shape) == 32 { // numpy's own bound
			return false
		}
		p.text = p.text[n:]
		p.shape = append(p.shape, dim)
		if !p.token(",") {
			return p.token(")")
		}
	}
	return true
}
