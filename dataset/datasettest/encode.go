package datasettest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// IDX writes an IDX object: the type's code, a shape, and the numbers as they are to be stored.
func IDX(code byte, shape []uint32, numbers any) []byte {
	out := []byte{0, 0, code, byte(len(shape))}
	for _, dim := range shape {
		out = binary.BigEndian.AppendUint32(out, dim)
	}
	return encoded(out, binary.BigEndian, numbers)
}

// NPY writes a .npy object of version 1 as numpy would: the type such as "<f4", a shape such as
// "(2, 3)", and the numbers.
func NPY(descr, shape string, numbers any) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	header += strings.Repeat(" ", 63-(len(header)+10)%64) + "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	return encoded(append(out, header...), binary.LittleEndian, numbers)
}

// Array is one array of an .npz.
type Array struct {
	Name string
	NPY  []byte
}

// NPZ writes arrays into a zip, deflated or stored.
func NPZ(deflate bool, arrays ...Array) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	method := zip.Store
	if deflate {
		method = zip.Deflate
	}
	for _, a := range arrays {
		w, err := z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: method})
		if err != nil {
			panic(err) // a buffer takes everything
		}
		if _, err := w.Write(a.NPY); err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// Vecs writes one vector of an fvecs, bvecs or ivecs object.
func Vecs(width uint32, numbers any) []byte {
	return encoded(binary.LittleEndian.AppendUint32(nil, width), binary.LittleEndian, numbers)
}

func encoded(out []byte, order binary.ByteOrder, numbers any) []byte {
	out, err := binary.Append(out, order, numbers)
	if err != nil {
		panic(err) // numbers are not of a fixed size
	}
	return out
}
