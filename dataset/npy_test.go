package dataset

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// npyOf is an npy object of one float32, with the given version and a dict padded to n bytes.
func npyOf(version byte, dict string, n int) string {
	data := binary.LittleEndian.AppendUint32([]byte{0x93, 'N', 'U', 'M', 'P', 'Y', version, 0}, uint32(n))
	return string(data) + dict + strings.Repeat(" ", n-len(dict)) + "\x00\x00\x80\x3f"
}

const oneByOne = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)}"

// A header may have up to 64 KiB.
func TestNPYHeaderUpToItsBound(t *testing.T) {
	for n, want := range map[int]bool{100: true, maxNPYHeader: true, maxNPYHeader + 1: false} {
		_, rows, _, err := noticed(t, formatInput("npy", nil), npyOf(2, oneByOne, n))
		if want && (err != nil || len(rows) != 1 || rows[0].Vector[0] != 1) || !want &&
			!isCode(err, protocol.CodeBadRecord) {
			t.Errorf("a header of %d bytes: %v, %v", n, rows, err)
		}
	}
}

// Versions 2 and 3 write the header's length in four bytes; unknown versions are refused.
func TestNPYVersions(t *testing.T) {
	for version, want := range map[byte]bool{0: false, 2: true, 3: true, 4: false} {
		rows, _, err := readFile(t, formatInput("npy", nil), map[string]string{"f": npyOf(version, oneByOne, 100)})
		if want && (err != nil || len(rows) != 1) || !want && !isCode(err, protocol.CodeBadRecord) {
			t.Errorf("version %d: %v, %v", version, rows, err)
		}
	}
}

// The literal is read as NumPy writes it, in any order and with any spaces; all else is refused.
func TestNPYDictByHand(t *testing.T) {
	for dict, want := range map[string]bool{
		oneByOne: true,
		"{'shape':(1,1,),'descr':'<f4','fortran_order':False,}":                                  true,
		" { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 1 , 1 ) , } \n":              true,
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}":                               false,
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1}":                               false,
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1,, 1)}":                             false,
		"{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 1)}":                                  false,
		"{'descr': '<f4' 'fortran_order': False, 'shape': (1, 1)}":                               false,
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), 'more': 1}":                   false,
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1" + strings.Repeat(",1", 31) + ")}": true,
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1" + strings.Repeat(",1", 32) + ")}": false,
	} {
		rows, _, err := readFile(t, formatInput("npy", nil), map[string]string{"f": npyOf(2, dict, 200)})
		if want && (err != nil || len(rows) != 1) || !want && !isCode(err, protocol.CodeBadRecord) {
			t.Errorf("%s: %v, %v", dict, rows, err)
		}
	}
}
