package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gram-compute/gram/kernelops/decimal"
	"github.com/gram-compute/gram/protocol"
)

// behind returns text as a line has it in its buffer: with other bytes after it.
func behind(text, after string) []byte {
	return append([]byte(text), after+strings.Repeat("7", aheadBytes)...)[:len(text)]
}

// oddNumbers are not all numbers.
var oddNumbers = []string{"", "-", ".", "-.", "0", "-0", "-0.0", "5.", ".5", "+1", "1e-3", "1e-46", "1E5", "0x10", "inf",
	"-Inf", "nan", "NaN", " 1", "1 ", "\t2", "\"3\"", "\"3,4\"", "\"", "1\"", "--1", "1-", "1.2.3", "1..2", "x", "1\x00",
	"16777215", "16777216", "16777217", "-16777216.5", "16777215.5", "1677721.6", "9007199254740993", "0.9007199254740993",
	"0.50000002980232238769531250", "0.5000000298023224", "0.5000000894069672", "0.5000000894069673", "0.500000089406967",
	"0.12345678901234567890", "00000000000000000000001", "1.1754943508222875e-38", "9.999999999999999999",
	"184467440737095516160", "0.0000000000000000001", "0.00000000000000000001", "3.4028235677973367e38", "1\r"}

// numberOf makes a number in one of the forms that files have, or something odd.
func numberOf(r *rand.Rand) string {
	x := r.NormFloat64() * math.Pow(10, float64(r.IntN(14)-6))
	switch r.IntN(8) {
	case 0:
		return oddNumbers[r.IntN(len(oddNumbers))]
	case 1:
		return strconv.Itoa(r.IntN(300) - 100)
	case 2:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case 3:
		return strconv.FormatFloat(x, 'f', -1, 32)
	case 4: // half-way between two float32, or one digit away from that
		half := strconv.FormatFloat(math.Ldexp(float64(1+2*r.IntN(1<<24)), -r.IntN(28)), 'f', -1, 64)
		return half[:len(half)-r.IntN(2)]
	}
	return strconv.FormatFloat(x, 'f', r.IntN(9), 64)
}

// wideNumber reads what scanNumber reads, wherever the text ends, and where near will do, the same float32.
func TestWideNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for range 300_000 {
		text := numberOf(r)
		want, n := scanNumber([]byte(text))
		wide := ahead(behind(text, numberOf(r)))
		got, next := wideNumber(wide, len(text), 0, false)
		near, nearNext := wideNumber(wide, len(text), 0, true)
		if got != want && n > 0 || next != n || nearNext != n || !sameFloat32(near.float32(), got.float32()) {
			t.Fatalf("%q: %+v of %d bytes, near %+v of %d; want %+v of %d", text, got, next, near, nearNext, want, n)
		}
		if exact, err := strconv.ParseFloat(text, 32); n == len(text) && n > 0 &&
			(err != nil || !sameFloat32(float32(exact), near.float32())) {
			t.Fatalf("%q: %v, want %v, %v", text, near.float32(), float32(exact), err)
		}
	}
}

// A line is read the same, to the bit, with the CPU's own routine and without it, and by the general loop alone.
func TestFastFields(t *testing.T) {
	if decimal.Fastest() == nil {
		t.Log("this CPU reads one field at a time")
	}
	r := rand.New(rand.NewPCG(3, 9))
	label := 1
	for range 60_000 {
		columns := 1 + r.IntN(40)
		fields := make([]string, max(columns+[]int{0, 0, 0, 0, -1, 1}[r.IntN(6)], 1))
		for i := range fields {
			if fields[i] = strconv.Itoa(r.IntN(12)); r.IntN(4) > 0 {
				fields[i] = strconv.FormatFloat(r.NormFloat64(), 'f', r.IntN(8), 64)
			}
			if r.IntN(20) == 0 {
				fields[i] = numberOf(r)
			}
		}
		in := formatInput("csv", func(in *protocol.Input) { in.OnBadRecord.SkipMax = 1 })
		if label = r.IntN(columns + 1); label > 0 && columns > 1 {
			in.Label = protocol.Column{Number: label}
		}
		if r.IntN(4) == 0 {
			in.Missing = []string{"nan", "", "x"}
		}
		line := strings.Join(fields, ",")
		var got [3]string
		for way := range got {
			got[way] = readLine(t, in, strings.Repeat("1,", columns-1)+"1", line, way, numberOf(r))
		}
		if got[0] != got[1] || got[0] != got[2] {
			t.Fatalf("%q of %d columns: fast %s\nscalar %s\ngeneral %s", line, columns, got[0], got[1], got[2])
		}
	}
}

// readLine is lineBy of a line with something behind it.
func readLine(t *testing.T, in protocol.Input, first, line string, way int, after string) string {
	t.Helper()
	return lineBy(t, new(Block), in, first, behind(line, after), way, len(line)%3 > 0)
}

// lineBy reads a line by way 0, all that run does; 1, run without the CPU's routine; 2, the general loop.
func lineBy(t *testing.T, b *Block, in protocol.Input, first string, line []byte, way int, quiet bool) string {
	t.Helper()
	p := newCSV(&in, decimal.Fastest()).(*csvParser)
	if bad := p.first([]byte(first)); bad.reason != "" {
		t.Fatal(bad.reason)
	}
	b.watch.begin(strconv.Itoa, nil)
	b.watch.quiet, b.watch.missing = quiet, newMissing(&in)
	if way > 0 {
		p.read = nil
	}
	if way == 2 {
		if b.watch.missing == nil {
			b.watch.missing = &missing{}
		}
		b.watch.missing.numerals = true // run is left out
	}
	bad := p.record(b, line)
	more := bad.more
	if bad.more = nil; more == nil {
		more = &detail{}
	}
	if bad.reason != "" {
		return fmt.Sprintf("%+v %+v", bad, *more)
	}
	bits := make([]uint32, len(b.Dense.Values))
	for i, v := range b.Dense.Values {
		bits[i] = math.Float32bits(v)
	}
	if b.watch.quiet { // of which only the columns know in the general loop
		return fmt.Sprintf("%x %q", bits, b.Labels)
	}
	return fmt.Sprintf("%x %q %+v", bits, b.Labels, b.watch.rounded())
}
