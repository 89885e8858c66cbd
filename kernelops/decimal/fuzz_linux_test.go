package decimal

import (
	"math"
	"os"
	"syscall"
	"testing"
)

// fenced puts text before a page that may not be touched: a load beyond it kills the process.
func fenced(t testing.TB, mem []byte, text ...string) []byte {
	t.Helper()
	size := 0
	for _, part := range text {
		size += len(part)
	}
	at := mem[len(mem)-size:]
	for _, part := range text {
		at = at[copy(at, part):]
	}
	return mem[len(mem)-size:]
}

// FuzzRead compares a Read with the loop in its text. It may load Ahead bytes behind the text, and no more.
func FuzzRead(f *testing.F) {
	read := fastest(f)
	page := os.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err == nil {
		err = syscall.Mprotect(mem[2*page:], syscall.PROT_NONE)
	}
	if err != nil {
		f.Fatal(err)
	}
	mem = mem[:2*page]
	for i, seed := range []string{"1,2,3", "-1.5,.5,5.", "1:2 3:4.5 6:7", ",,", "", "9007199254740991,9007199254740992",
		"0.5000000298023224", "16777215.5", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,-1,20", "1\n2,3"} {
		f.Add(seed, "5,7", byte(i), byte(i), byte(','), byte('\n'), i%2 > 0)
		f.Add(seed, "", byte(40), byte(0x55), byte(' '), byte(':'), i%2 > 0)
	}
	f.Fuzz(func(t *testing.T, line, behind string, columns, pattern, other, first byte, whole bool) {
		if len(line) > page || len(behind) > Ahead || first == other || 0x80&(first|other) > 0 {
			return
		}
		behind += string(make([]byte, Ahead-len(behind)))
		text, inexact := fenced(t, mem, line, behind), Rounded
		if whole {
			inexact = Refused
		}
		repeated := uint64(pattern) * 0x0101010101010101
		got, want := make([]float32, int(columns)+1), make([]float32, int(columns)+1)
		got[columns] = 7
		n, used := read(got[:columns], text, len(line), first, other, repeated, inexact)
		wantN, wantUsed := oracle(want[:columns], text, len(line), first, other, repeated, inexact)
		if n != wantN || used != wantUsed || got[columns] != 7 {
			t.Fatalf("%q, %q behind it: %d numbers of %d bytes, want %d of %d; behind dst %v", line, behind, n, used,
				wantN, wantUsed, got[columns])
		}
		for i := range n {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("%q: number %d is %v, want %v", line, i, got[i], want[i])
			}
		}
	})
}
