package parts

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// The npy format, version 1.0 (NumPy, "A simple file format for NumPy arrays", NEP 1): a magic,
// the header's length, a Python dictionary padded to 64 bytes, and the elements.
const npyMagic = "\x93NUMPY\x01\x00"

// maxNpyHeader bounds the header that is read back: ours has one line.
const maxNpyHeader = 1 << 10

// NPYHeader writes the header of rows x cols elements; cols of 0 stands for one dimension.
func NPYHeader(descr string, rows int64, cols int) []byte {
	shape := fmt.Sprintf("(%d,)", rows)
	if cols > 0 {
		shape = fmt.Sprintf("(%d, %d)", rows, cols)
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	pad := -(len(npyMagic) + 2 + len(dict) + 1) & 63
	dict += strings.Repeat(" ", pad) + "\n"
	header := binary.LittleEndian.AppendUint16([]byte(npyMagic), uint16(len(dict)))
	return append(header, dict...)
}

// npy writes the columns of numbers: one alone in its own type, several as float64.
func (t Table) npy() ([]byte, error) {
	var numbers []Column
	for _, c := range t {
		if c.Texts == nil {
			numbers = append(numbers, c)
		}
	}
	var out bytes.Buffer
	var values any
	switch {
	case len(numbers) == 0:
		return nil, fmt.Errorf("parts: npy holds numbers, and the columns %q have none", t.Names())
	case len(numbers) == 1 && numbers[0].Ints != nil:
		out.Write(NPYHeader("<i8", int64(t.Rows()), 0))
		values = numbers[0].Ints
	case len(numbers) == 1:
		out.Write(NPYHeader("<f8", int64(t.Rows()), 0))
		values = numbers[0].Floats
	default:
		out.Write(NPYHeader("<f8", int64(t.Rows()), len(numbers)))
		values = interleave(numbers)
	}
	err := binary.Write(&out, binary.LittleEndian, values)
	return out.Bytes(), err
}

func interleave(columns []Column) []float64 {
	rows := columns[0].rows()
	values := make([]float64, 0, rows*len(columns))
	for row := range rows {
		for _, c := range columns {
			if c.Ints != nil {
				values = append(values, float64(c.Ints[row]))
			} else {
				values = append(values, c.Floats[row])
			}
		}
	}
	return values
}

// splitNpy returns the header's dtype, the columns (0 for one dimension) and the
// elements of a part that npy wrote.
func splitNpy(data []byte) (descr string, cols int, elements []byte, err error) {
	start := len(npyMagic) + 2
	if len(data) < start || string(data[:len(npyMagic)]) != npyMagic {
		return "", 0, nil, fmt.Errorf("no npy part")
	}
	length := int(binary.LittleEndian.Uint16(data[len(npyMagic):]))
	if length > maxNpyHeader || len(data) < start+length {
		return "", 0, nil, fmt.Errorf("an npy header of %d bytes in %d", length, len(data))
	}
	header, elements := string(data[start:start+length]), data[start+length:]
	found := ourHeader.FindStringSubmatch(header)
	if found == nil {
		return "", 0, nil, fmt.Errorf("an npy header that is not one of a part: %.80q", header)
	}
	rows, err := strconv.ParseInt(found[2], 10, 48)
	if err == nil && found[3] != "" {
		cols, err = strconv.Atoi(found[3])
	}
	size := int64(8)
	if found[1] == "<f4" {
		size = 4
	}
	if width := int64(max(cols, 1)) * size; err != nil || rows > math.MaxInt64/width ||
		int64(len(elements)) != rows*width {
		return "", 0, nil, fmt.Errorf("%d bytes of elements below the npy header %.80q", len(elements), header)
	}
	return found[1], cols, elements, nil
}

// ourHeader is what NPYHeader writes: dtype, rows and, in two dimensions, columns.
var ourHeader = regexp.MustCompile(
	`^\{'descr': '(<i8|<f8|<f4)', 'fortran_order': False, 'shape': \((\d+),(?: (\d+))?\), \} *\n$`)
