package dataset

import (
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gram-compute/gram/kernelops/decimal"
	"github.com/gram-compute/gram/protocol"
)

// fence is memory before a page that may not be touched: a load beyond it kills the process.
type fence []byte

func newFence(t testing.TB) fence {
	t.Helper()
	const pages = 4
	page := os.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, (pages+1)*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mprotect(mem[pages*page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return fence(mem[: pages*page : pages*page])
}

// put places text and what is behind it right before the fence. The capacity ends there, too.
func (f fence) put(text, behind []byte) []byte {
	from := len(f) - len(text) - len(behind)
	copy(f[from:], text)
	copy(f[from+len(text):], behind)
	return f[from : from+len(text)]
}

// exactNumber is what a field is as a number, by the standard library alone.
func exactNumber(field string) (x float32, ok bool) {
	field = strings.Trim(field, " \t")
	if field == "" || strings.Trim(field, "0123456789+-.eE") != "" {
		return 0, false
	}
	exact, err := strconv.ParseFloat(field, 32)
	return float32(exact), err == nil
}

// FuzzNumbers reads a number by each road: none reads beyond its memory, and all give the nearest float32.
func FuzzNumbers(f *testing.F) {
	for _, seed := range oddNumbers {
		f.Add([]byte(seed), []byte(",1\n"), false)
		f.Add([]byte(seed), []byte{}, true)
		f.Add([]byte(seed), []byte(strings.Repeat("7", aheadBytes)), true)
	}
	f.Fuzz(func(t *testing.T, text, after []byte, near bool) {
		if len(text) > 1000 || len(after) > 200 {
			return
		}
		text = fenced(t).put(text, after)
		want, n := scanNumber(text)
		got, next := wideNumber(ahead(text), len(text), 0, near)
		if next != n || n > 0 && (!sameFloat32(got.float32(), want.float32()) || !near && got != want) {
			t.Fatalf("%q: %+v of %d bytes, want %+v of %d", text, got, next, want, n)
		}
		if n > 0 {
			exact, _, err := big.ParseFloat(string(text[:n]), 10, 2000, big.ToNearestEven)
			if err != nil {
				t.Fatalf("%q: %v", text[:n], err)
			}
			if nearest, _ := exact.Float32(); nearest != got.float32() || math.Signbit(float64(nearest)) !=
				math.Signbit(float64(got.float32())) {
				t.Fatalf("%q: %v, want %v", text[:n], got.float32(), nearest)
			}
			if nearest, _ := exact.Float64(); nearest != want.float64() {
				t.Fatalf("%q: %v, want %v", text[:n], want.float64(), nearest)
			}
		}
		x, bad := parseNumber(text)
		if exact, ok := exactNumber(string(text)); ok != (bad.reason == "") || ok && !sameFloat32(x.value, exact) {
			t.Fatalf("%q: %v %v, want %v %v", text, x.value, bad, exact, ok)
		}
	})
}

var shared fence

// fenced is one fence of the process.
func fenced(t testing.TB) fence {
	if shared == nil {
		shared = newFence(t)
	}
	return shared
}

// FuzzFields reads a line of csv by all of run, without the CPU's routine, and by the general loop.
func FuzzFields(f *testing.F) {
	for i, seed := range []string{"1,2,3", "1.5,-2,.5,5.", "\"1\",\"2\",3", ",,", "1,2,\r", "1\r,2,3", "\xef\xbb\xbf1,2,3",
		"1,\x00,3", "1,2,3,4", "1,2", "0.5000000298023224,16777216,9007199254740993", "\"1,2\",3,\"", "1, 2 ,\t3",
		strings.Repeat("0", 70) + "1,2,3", "\"a\nb\",1,2", "1e3,1e-46,3.5e38", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"} {
		f.Add([]byte(seed), []byte("\n1,2,3\n"), byte(2+i), byte(i), byte(i))
		f.Add([]byte(seed), []byte(strings.Repeat("7", i*5)), byte(3), byte(0), byte(1))
	}
	f.Fuzz(func(t *testing.T, line, after []byte, columns, label, how byte) {
		if len(line) > 4000 || len(after) > 100 || columns == 0 || columns > 100 {
			return
		}
		in := formatInput("csv", func(in *protocol.Input) { in.OnBadRecord.SkipMax = 1 })
		if n := int(label) % (int(columns) + 1); n > 0 && columns > 1 {
			in.Label = protocol.Column{Number: n}
		}
		if how&2 > 0 {
			in.Missing = []string{"nan", "", "x"}
		}
		var got [3]string
		var b [3]Block
		for way := range got {
			text := fenced(t).put(line, after)
			got[way] = lineBy(t, &b[way], in, strings.Repeat("1,", int(columns)-1)+"1", text, way, how&1 > 0)
		}
		if got[0] != got[1] || got[0] != got[2] {
			t.Fatalf("%q of %d columns: fast %s\nscalar %s\ngeneral %s", line, columns, got[0], got[1], got[2])
		}
		if how&2 == 0 && in.Label.IsZero() {
			wantFields(t, line, int(columns), &b[0], strings.HasPrefix(got[0], "["))
		}
	})
}

// wantFields compares a line of numbers with encoding/csv and strconv.
func wantFields(t *testing.T, line []byte, columns int, b *Block, isRecord bool) {
	t.Helper()
	fields, err := csvLine(string(line))
	if strings.Contains(string(line), "\n") { // within quotes: encoding/csv makes lines of its own of the rest
		return
	}
	want := make([]float32, 0, columns)
	good := err == nil && len(fields) == columns && !returnOutside(string(line))
	for _, field := range fields {
		x, ok := exactNumber(field)
		want, good = append(want, x), good && ok
	}
	if good != isRecord || good && !slices.EqualFunc(b.Dense.Values, want, sameFloat32) {
		t.Fatalf("%q: %v, a record: %v; want %v %v", line, b.Dense.Values, isRecord, want, good)
	}
}

// FuzzEntries reads a line of libsvm by all of run, without the CPU's routine, and by the general loop.
func FuzzEntries(f *testing.F) {
	for i, seed := range []string{"1 1:2 2:3", "+1 1:2\t3:4  5:6 ", "a 3:1 2:1", "1 1: 2:3", "1 1:2 1:3", "1 1:2 2:3 # x",
		"1 16777216:1", "1 1:0.5000000298023224 2:16777217", "1 " + strings.Repeat("0", 70) + "1:2", "1 1:2:3", "1 :2",
		"1 1.5:2", "1 -1:2", "1 1:2\r", "1 1:\x002", "1 1:-0 2:-.5 3:5. 4:1e3",
		"1" + strings.Repeat(" 1:1", 70)} {
		f.Add([]byte(seed), []byte(" 7:7\n"), byte(i))
		f.Add([]byte(seed), []byte(strings.Repeat("7", i*5)), byte(i))
	}
	f.Fuzz(func(t *testing.T, line, after []byte, how byte) {
		if len(line) > 4000 || len(after) > 100 || len(line) == 0 {
			return
		}
		base, width := int(how&1), []int{4, 400, 1 << 25}[how>>2%3]
		in := formatInput("libsvm", func(in *protocol.Input) { in.IndexBase, in.Width = &base, width })
		var b [3]Block
		var bad [3]flaw
		for way := range b {
			p := newLibSVM(&in, decimal.Fastest()).(*libsvmParser)
			b[way].watch.begin(strconv.Itoa, nil)
			b[way].watch.quiet = how&2 > 0
			switch way {
			case 1:
				p.read = nil
			case 2:
				p.offsets = []Offset{{Column: width}} // beyond all columns: nothing is taken off, and run is left out
			}
			text := p.content(fenced(t).put(line, after))
			if len(text) == 0 {
				return
			}
			bad[way] = p.record(&b[way], text)
			if bad[way].reason != "" {
				b[way].Sparse = Sparse{}
			}
		}
		for way := 1; way < 3; way++ {
			x, y := &b[0].Sparse, &b[way].Sparse
			if bad[0].reason != bad[way].reason || bad[0].column != bad[way].column ||
				!slices.Equal(x.Indices, y.Indices) || !slices.EqualFunc(x.Values, y.Values, sameFloat32) ||
				b[0].watch.moved != b[way].watch.moved {
				t.Fatalf("%q: %+v %+v, by way %d %+v %+v", line, *x, bad[0], way, *y, bad[way])
			}
		}
		p := newLibSVM(&in, decimal.Fastest()).(*libsvmParser)
		r, ok := naiveLibSVM(string(p.content(line)), base, width)
		if ok != (bad[0].reason == "") || ok && (!slices.Equal(b[0].Sparse.Indices, r.Indices) ||
			!slices.EqualFunc(b[0].Sparse.Values, r.Vector, sameFloat32)) {
			t.Fatalf("%q: %+v %+v, want %+v, %v", line, b[0].Sparse, bad[0], r, ok)
		}
	})
}
