package jobs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
)

// The encoding is the safetensors format: the header's length as a little-endian
// uint64, a JSON header, the elements. Gram writes one byte string per
// content, so that a digest names a content:
//
//   - the header has no white space and no __metadata__, its keys are in byte order,
//     each entry is {"dtype":...,"shape":[...],"data_offsets":[begin,end]};
//   - spaces pad the header to a multiple of 8 bytes;
//   - data lies in the order of falling element size, then name, without gaps, so that
//     every array is aligned for its type.
//
// Decode accepts these bytes and no others: Encode(Decode(x)) = x.

// maxHeaderBytes bounds the JSON header: some thousands of arrays.
const maxHeaderBytes = 1 << 20

// headerEntry is one array as the header tells it.
type headerEntry struct {
	DType   DType    `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// Encode returns a as canonical safetensors bytes, in one allocation of their size.
// More arrays than a header of 1 MiB holds are a programming error and panic.
func (a Arrays) Encode() []byte {
	header := a.header()
	if len(header) > maxHeaderBytes {
		panic("jobs: the header of " + strconv.Itoa(len(a)) + " arrays is beyond 1 MiB")
	}
	out := make([]byte, 0, 8+len(header)+a.dataSize())
	out = binary.LittleEndian.AppendUint64(out, uint64(len(header)))
	out = append(out, header...)
	for _, name := range a.layout() {
		out = append(out, a[name].Data...)
	}
	return out
}

// Digest returns the SHA-256 of a.Encode(), without the encoding.
func (a Arrays) Digest() [sha256.Size]byte {
	header := a.header()
	sum := sha256.New()
	sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header))))
	sum.Write(header)
	for _, name := range a.layout() {
		sum.Write(a[name].Data)
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

// EncodedSize is len(a.Encode()), without the encoding.
func (a Arrays) EncodedSize() int64 { return int64(8 + len(a.header()) + a.dataSize()) }

func (a Arrays) dataSize() int {
	size := 0
	for _, array := range a { //lint:ordered a sum of integers
		size += len(array.Data)
	}
	return size
}

// layout lists the names in the order in which the data lies.
func (a Arrays) layout() []string {
	names := a.Names()
	// total order: stable, and Names are distinct and sorted
	slices.SortStableFunc(names, func(x, y string) int {
		return cmp.Compare(a[y].DType.Size(), a[x].DType.Size())
	})
	return names
}

// Names lists the names in byte order.
func (a Arrays) Names() []string {
	return slices.Sorted(maps.Keys(a))
}

// header writes the canonical JSON header with its padding.
func (a Arrays) header() []byte {
	begin := make(map[string]int, len(a))
	at := 0
	for _, name := range a.layout() {
		begin[name] = at
		at += len(a[name].Data)
	}
	out := []byte{'{'}
	for i, name := range a.Names() {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendEntry(out, name, a[name], begin[name])
	}
	out = append(out, '}')
	for len(out)%8 != 0 {
		out = append(out, ' ')
	}
	return out
}

// appendEntry needs no JSON escapes: checkName lets none through.
func appendEntry(out []byte, name string, array Array, begin int) []byte {
	out = append(out, '"')
	out = append(out, name...)
	out = append(out, `":{"dtype":"`...)
	out = append(out, array.DType...)
	out = append(out, `","shape":[`...)
	for i, dim := range array.Shape {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(dim), 10)
	}
	out = append(out, `],"data_offsets":[`...)
	out = strconv.AppendInt(out, int64(begin), 10)
	out = append(out, ',')
	out = strconv.AppendInt(out, int64(begin+len(array.Data)), 10)
	return append(out, `]}`...)
}

// Decode reads what Encode wrote. The arrays share data's memory, which must
// not change afterwards; memory beyond that grows with the header's bytes. Anything
// that Encode would not have written is a *protocol.Fault of CodeCorrupt.
func Decode(data []byte) (Arrays, error) {
	header, body, err := splitHeader(data)
	if err != nil {
		return nil, err
	}
	var entries map[string]headerEntry
	if err := json.Unmarshal(header, &entries); err != nil {
		return nil, Malformed("safetensors header is not the JSON it should be: %v", err)
	}
	arrays := make(Arrays, len(entries))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if arrays[name], err = entries[name].cut(name, body); err != nil {
			return nil, err
		}
	}
	if err := arrays.checkLayout(entries, len(body)); err != nil {
		return nil, err
	}
	if !bytes.Equal(arrays.header(), header) {
		return nil, Malformed("safetensors header is not in Gram's canonical form")
	}
	return arrays, nil
}

func splitHeader(data []byte) (header, body []byte, err error) {
	if len(data) < 8 {
		return nil, nil, Malformed("safetensors of %d bytes: shorter than the header's length", len(data))
	}
	n, rest := binary.LittleEndian.Uint64(data), data[8:]
	if n > maxHeaderBytes || n > uint64(len(rest)) {
		return nil, nil, Malformed("safetensors header of %d bytes is beyond the %d bytes present or the bound of %d",
			n, len(rest), maxHeaderBytes)
	}
	return rest[:n], rest[n:], nil
}

// cut returns the array that e describes as a part of body.
func (e headerEntry) cut(name string, body []byte) (Array, error) {
	if err := checkName(name); err != nil {
		return Array{}, Malformed("safetensors: %v", err)
	}
	size, err := shapeBytes(e.DType, e.Shape)
	if err != nil {
		return Array{}, Malformed("safetensors array %q: %v", name, err)
	}
	begin, end := e.Offsets[0], e.Offsets[1]
	if begin < 0 || end < begin || end > int64(len(body)) || end-begin != int64(size) || end > math.MaxInt {
		return Array{}, Malformed("safetensors array %q of %d bytes lies at [%d, %d) of %d bytes",
			name, size, begin, end, len(body))
	}
	return Array{DType: e.DType, Shape: e.Shape, Data: body[begin:end:end]}, nil
}

// checkLayout refuses overlaps, gaps, another order and trailing bytes.
func (a Arrays) checkLayout(entries map[string]headerEntry, size int) error {
	at := int64(0)
	for _, name := range a.layout() {
		if e := entries[name]; e.Offsets[0] != at {
			return Malformed("safetensors array %q begins at %d, not at %d", name, e.Offsets[0], at)
		}
		at = entries[name].Offsets[1]
	}
	if at != int64(size) {
		return Malformed("safetensors holds %d bytes of arrays and %d bytes of data", at, size)
	}
	return nil
}
