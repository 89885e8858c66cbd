package decimal

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
)

var form = regexp.MustCompile(`^-?([0-9]+\.?[0-9]*|\.[0-9]+)$`)

// oracle is the loop in the text of Read, with numbers by strconv.
func oracle(dst []float32, text []byte, length int, first, other byte, pattern, inexact uint64) (numbers, used int) {
	for numbers < len(dst) && used <= length {
		end := bytes.IndexAny(text[used:length], string([]byte{first, other}))
		if end < 0 {
			end = length - used
		}
		if end > 63 {
			break
		}
		field := string(text[used : used+end])
		end += used
		isFirst := pattern>>(numbers%64)&1 == 1
		x, ok := number(field, isFirst, inexact == Refused)
		if !ok || isFirst != (end < length && text[end] == first) {
			break
		}
		dst[numbers] = x
		numbers, used = numbers+1, end+1
	}
	return numbers, used
}

func number(field string, plain, whole bool) (float32, bool) {
	chars := len(field)
	if chars > 0 && field[0] == '-' {
		chars--
	}
	if !form.MatchString(field) || chars > 16 || plain && regexp.MustCompile(`[-.]`).MatchString(field) {
		return 0, false
	}
	digits, _ := strconv.ParseFloat(regexp.MustCompile(`[-.]`).ReplaceAllString(field, ""), 64)
	exact, _ := strconv.ParseFloat(field, 64)
	nearest, _ := strconv.ParseFloat(field, 32)
	return float32(nearest), digits < 1<<53 && math.Abs(exact) < 1<<24 &&
		math.Float64bits(exact)&(1<<29-1) != 1<<28 && !(whole && float64(float32(exact)) != exact)
}

func check(
	t *testing.T, read Read, line string, behind string, columns int, first, other byte, pattern, inexact uint64,
) {
	t.Helper()
	text := append([]byte(line), behind...)
	text = append(text, make([]byte, Ahead)...)
	got, want := make([]float32, columns+1), make([]float32, columns+1)
	got[columns] = 7
	n, used := read(got[:columns], text, len(line), first, other, pattern, inexact)
	wantN, wantUsed := oracle(want[:columns], text, len(line), first, other, pattern, inexact)
	if n != wantN || used != wantUsed || got[columns] != 7 {
		t.Fatalf("%q, %q behind it, %d columns: %d numbers of %d bytes, want %d of %d; behind dst %v", line, behind,
			columns, n, used, wantN, wantUsed, got[columns])
	}
	for i := range n {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%q: number %d is %v, want %v", line, i, got[i], want[i])
		}
	}
}

func fastest(t testing.TB) Read {
	read := Fastest()
	if read == nil {
		t.Skip("this CPU has none")
	}
	return read
}

func TestByHand(t *testing.T) {
	read := fastest(t)
	for _, field := range []string{"", "-", ".", "-.", "0", "-0", "5.", ".5", "-.5", "--1", "1-", "1.2.3", "1..", "..1",
		"+1",
		"1e3", "x", "nan", "inf", " 1", "1 ", "\"1\"", "1\x00", "\x001", "1\x002", "1/", "1:", "16777215", "16777216",
		"16777215.5", "16777215.4", "9007199254740991", "9007199254740992", "0.900719925474099", "0.9007199254740992",
		"0.50000002980232", "0.000000000000001", "0.0000000000000001", "12345678.1234567", "123456.123456789",
		"-123456.12345678", "-123456.123456789", "0000000000000001", "00000000000000001", "0.5000000894069672",
		"1234567890123456789012345678901234567890123456789012345678901234567890", "\xff", "\xb1", "1\xae5",
	} {
		for _, line := range []string{field, field + ",1", "1," + field, "1,2,3,4,5,6,7,8," + field + ",10", field + "," + field} {
			for _, behind := range []string{"", "\n", "5", ".5,", "\r\n1,2"} {
				for _, columns := range []int{0, 1, 2, 9, 20} {
					check(t, read, line, behind, columns, '\n', ',', 0, Rounded)
					check(t, read, line, behind, columns, '\n', ',', 0, Refused)
				}
			}
		}
	}
}

// Lines of numbers of every length, whole and broken, in the forms of csv and libsvm.
func TestAgainstStrconv(t *testing.T) {
	read := fastest(t)
	r := rand.New(rand.NewPCG(1, 2))
	value := func() string {
		switch x := r.NormFloat64() * math.Pow(10, float64(r.IntN(12)-4)); r.IntN(9) {
		case 0:
			return strconv.Itoa(r.IntN(20))
		case 1:
			return strconv.FormatFloat(x, 'f', r.IntN(16), 64)
		case 2:
			return strconv.FormatFloat(float64(float32(x)), 'g', -1, 32)
		case 3: // half-way, or nearly so
			half := float64(math.Float32frombits(r.Uint32()>>2|0x20000000)) * (1 + 0x1p-24)
			return strconv.FormatFloat(half, 'f', -1, 64)
		case 4:
			b := make([]byte, r.IntN(20))
			for i := range b {
				b[i] = "0123456789.-e,: \x00"[r.IntN(17)]
			}
			return string(b)
		default:
			return strconv.FormatFloat(x, 'f', 1+r.IntN(8), 32)
		}
	}
	for range 50_000 {
		var csv, pairs bytes.Buffer
		for i := range 1 + r.IntN(30) {
			if r.IntN(8) == 0 {
				fmt.Fprintf(&pairs, "%s:", value())
			} else {
				fmt.Fprintf(&pairs, "%d:", r.IntN(1<<20))
			}
			v := value()
			if i > 0 {
				csv.WriteByte(',')
			}
			csv.WriteString(v)
			fmt.Fprintf(&pairs, "%s ", v)
		}
		columns, inexact := 1+r.IntN(40), []uint64{Rounded, Rounded, Refused}[r.IntN(3)]
		check(t, read, csv.String(), value()+"\n", columns, '\n', ',', 0, inexact)
		check(t, read, string(bytes.TrimSuffix(pairs.Bytes(), []byte(" "))), value()+"\n", columns, ':', ' ',
			0x5555555555555555, inexact)
	}
}
