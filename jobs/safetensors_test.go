package jobs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/protocol"
)

// golden is worked by hand from the format's description. Names in byte order in the
// header; data by falling element size: alpha (8 bytes), n (16), then t (3).
var goldenHeader = `{"alpha":{"dtype":"F64","shape":[],"data_offsets":[0,8]},` +
	`"n":{"dtype":"I64","shape":[2,1],"data_offsets":[8,24]},` +
	`"r":{"dtype":"U8","shape":[3],"data_offsets":[28,31]},` +
	`"t":{"dtype":"F32","shape":[1],"data_offsets":[24,28]}}`

var goldenData = "\x00\x00\x00\x00\x00\x00\xf0\x3f" + // 1.0
	"\x01\x00\x00\x00\x00\x00\x00\x00" + "\xff\xff\xff\xff\xff\xff\xff\xff" + // 1, -1
	"\x00\x00\x00\xc0" + // -2.0
	"abc"

// file frames a header, padded with spaces to 8 bytes, and its data.
func file(header, data string) []byte {
	header += strings.Repeat(" ", -len(header)&7)
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), data...)
}

func goldenArrays() Arrays {
	a := Arrays{}
	PutScalar(a, "alpha", 1.0)
	Put(a, "n", []int64{1, -1}, 2, 1)
	a.PutText("r", "abc")
	Put(a, "t", []float32{-2})
	return a
}

func TestEncodeGolden(t *testing.T) {
	want := file(goldenHeader, goldenData)
	got := goldenArrays().Encode()
	if !bytes.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	if size := goldenArrays().EncodedSize(); size != int64(len(want)) {
		t.Fatalf("EncodedSize %d, want %d", size, len(want))
	}
	if got := (Arrays{}).Encode(); !bytes.Equal(got, file("{}", "")) {
		t.Fatalf("no arrays: %q", got)
	}
}

func TestDecodeGolden(t *testing.T) {
	a, err := Decode(file(goldenHeader, goldenData))
	if err != nil {
		t.Fatal(err)
	}
	alpha, err := GetScalar[float64](a, "alpha")
	if err != nil || alpha != 1 {
		t.Fatal(alpha, err)
	}
	n, err := Get[int64](a, "n", -1, 1)
	if err != nil || len(n) != 2 || n[0] != 1 || n[1] != -1 {
		t.Fatal(n, err)
	}
	if text, err := a.Text("r"); err != nil || text != "abc" {
		t.Fatal(text, err)
	}
	v, err := Get[float32](a, "t", 1)
	if err != nil || v[0] != -2 {
		t.Fatal(v, err)
	}
}

// Arrays read from an odd address are copied, not misread.
func TestGetUnaligned(t *testing.T) {
	shifted := append([]byte{0}, goldenArrays().Encode()...)
	a, err := Decode(shifted[1:])
	if err != nil {
		t.Fatal(err)
	}
	if n, err := Get[int64](a, "n", 2, 1); err != nil || n[0] != 1 || n[1] != -1 {
		t.Fatal(n, err)
	}
}

func TestGetRefuses(t *testing.T) {
	a := goldenArrays()
	bad := Array{DType: I64, Shape: []int{2}, Data: make([]byte, 8)}
	a["short"] = bad
	for name, get := range map[string]func() error{
		"missing":    func() error { _, err := Get[int64](a, "nowhere"); return err },
		"dtype":      func() error { _, err := Get[int32](a, "n", 2, 1); return err },
		"same size":  func() error { _, err := Get[float64](a, "n", 2, 1); return err },
		"dimensions": func() error { _, err := Get[int64](a, "n"); return err },
		"shape":      func() error { _, err := Get[int64](a, "n", 2, 2); return err },
		"scalar":     func() error { _, err := GetScalar[float32](a, "t"); return err },
		"bytes":      func() error { _, err := Get[int64](a, "short"); return err },
		"text":       func() error { _, err := a.Text("alpha"); return err },
		"strings":    func() error { _, err := a.Strings("r"); return err },
	} {
		wantCorrupt(t, name, get())
	}
}

func TestPutPanicsOnMisuse(t *testing.T) {
	for name, put := range map[string]func(){
		"shape":    func() { Put(Arrays{}, "x", []int64{1, 2}, 3) },
		"empty":    func() { Put(Arrays{}, "", []int64{1}) },
		"quote":    func() { Put(Arrays{}, `a"b`, []int64{1}) },
		"reserved": func() { Put(Arrays{}, "__metadata__", []int64{1}) },
		"overflow": func() { Put(Arrays{}, "x", []int64{}, math.MaxInt, 2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			put()
		}()
	}
}

func TestDecodeRefuses(t *testing.T) {
	entry := func(name, dtype, shape, offsets string) string {
		return `"` + name + `":{"dtype":"` + dtype + `","shape":` + shape + `,"data_offsets":` + offsets + `}`
	}
	one := entry("a", "U8", "[1]", "[0,1]")
	cases := map[string][]byte{
		"nothing":        nil,
		"short length":   {1, 2, 3},
		"length beyond":  binary.LittleEndian.AppendUint64(nil, 9),
		"length huge":    append(bytes.Repeat([]byte{255}, 8), "{}"...),
		"no json":        file("{", ""),
		"a list":         file("[]", ""),
		"no padding":     append(append(binary.LittleEndian.AppendUint64(nil, 2), "{}"...), ""...),
		"white space":    file("{ }", ""),
		"padding before": file(" {"+one+"}", "x"),
		"metadata":       file(`{"__metadata__":{"a":"b"}}`, ""),
		"bad name":       file(`{"a\u0000":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "x"),
		"unknown dtype":  file("{"+entry("a", "F16", "[1]", "[0,2]")+"}", "xx"),
		"null shape":     file("{"+entry("a", "U8", "null", "[0,1]")+"}", "x"),
		"negative":       file("{"+entry("a", "U8", "[-1]", "[0,1]")+"}", "x"),
		"fraction":       file("{"+entry("a", "U8", "[1.0]", "[0,1]")+"}", "x"),
		"overflow":       file("{"+entry("a", "I64", "[4611686018427387904,4]", "[0,0]")+"}", ""),
		"beyond data":    file("{"+one+"}", ""),
		"trailing data":  file("{"+one+"}", "xy"),
		"wrong size":     file("{"+entry("a", "U8", "[2]", "[0,1]")+"}", "x"),
		"backwards":      file("{"+entry("a", "U8", "[1]", "[1,0]")+"}", "x"),
		"overlap":        file("{"+one+","+entry("b", "U8", "[1]", "[0,1]")+"}", "x"),
		"gap":            file("{"+one+","+entry("b", "U8", "[1]", "[2,3]")+"}", "xyz"),
		"duplicate":      file("{"+one+","+one+"}", "x"),
		"unsorted":       file("{"+entry("b", "U8", "[1]", "[0,1]")+","+entry("a", "U8", "[1]", "[1,2]")+"}", "xy"),
		"unknown field":  file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}}`, "x"),
		"field order":    file(`{"a":{"shape":[1],"dtype":"U8","data_offsets":[0,1]}}`, "x"),
		"misaligned":     file("{"+one+","+entry("b", "I64", "[1]", "[1,9]")+"}", "x12345678"),
	}
	for name, data := range cases {
		_, err := Decode(data)
		wantCorrupt(t, name, err)
	}
}

// The bound holds for a header that would be canonical but for its length.
func TestDecodeRefusesAHeaderBeyondItsBound(t *testing.T) {
	a := Arrays{}
	for i := 0; a.EncodedSize() <= 8+maxHeaderBytes; i += 1000 {
		for j := range 1000 {
			Put(a, fmt.Sprintf("array-%06d", i+j), []byte{})
		}
	}
	_, err := Decode(file(string(a.header()), ""))
	wantCorrupt(t, "header", err)
	if err != nil && !strings.Contains(err.Error(), "bound") {
		t.Errorf("refused for another reason: %v", err)
	}
}

func wantCorrupt(t *testing.T, name string, err error) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Errorf("%s: want a CORRUPT fault, got %v", name, err)
	}
}

// drawArrays makes arrays of every dtype and of up to three dimensions.
func drawArrays(t *rapid.T) Arrays {
	a := Arrays{}
	for _, name := range rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z0-9._/-]{1,6}`), 0, 5).Draw(t, "names") {
		d := rapid.SampledFrom([]DType{F64, F32, I64, I32, U64, U32, U8}).Draw(t, "dtype")
		shape := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 3).Draw(t, "shape")
		size, err := shapeBytes(d, shape)
		if err != nil {
			t.Fatal(err)
		}
		a[name] = Array{DType: d, Shape: shape, Data: rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "data")}
	}
	return a
}

func TestEncodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawArrays(t)
		encoded := a.Encode()
		if (8+len(a.header()))%8 != 0 {
			t.Fatal("data does not begin at a multiple of 8")
		}
		b, err := Decode(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != len(a) {
			t.Fatalf("%d arrays became %d", len(a), len(b))
		}
		for name := range a {
			if a[name].DType != b[name].DType || !bytes.Equal(a[name].Data, b[name].Data) {
				t.Fatalf("%q: %v became %v", name, a[name], b[name])
			}
		}
		if !bytes.Equal(b.Encode(), encoded) {
			t.Fatal("a second encoding differs")
		}
	})
}

// What Decode accepts is what Encode writes: one byte string per content.
func FuzzDecode(f *testing.F) {
	f.Add(goldenArrays().Encode())
	f.Add(Arrays{}.Encode())
	f.Add(file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "x"))
	f.Add(file(`{"a":{"dtype":"I64","shape":[0,4611686018427387904],"data_offsets":[0,0]}}`, ""))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Decode(data)
		if err != nil {
			wantCorrupt(t, "fuzz", err)
			return
		}
		if !bytes.Equal(a.Encode(), data) {
			t.Fatalf("accepted bytes that Encode does not write: %q", data)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	a := Arrays{}
	Put(a, "counts", make([]int64, 1<<17))
	data := a.Encode()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
