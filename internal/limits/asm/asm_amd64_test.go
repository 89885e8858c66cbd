//go:build !purego

package asm

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/gram-compute/gram/kernelops"
)

// loops are the functions of one instruction set.
type loops struct {
	multiplyAdd func(n int, x, y float32, sums *[16]float32)
	read        func(p []uint64, words *[8]uint64)
	store       func(p []uint64, word uint64)
	stream      func(p []uint64, word uint64)
	lanes       int // float32 per register
}

var bySet = map[string]loops{
	"avx2":   {MultiplyAddAVX2, ReadAVX2, StoreAVX2, StreamAVX2, 8},
	"avx512": {MultiplyAddAVX512, ReadAVX512, StoreAVX512, StreamAVX512, 16},
}

// each runs check for the instruction sets of this machine.
func each(t *testing.T, check func(t *testing.T, l loops)) {
	for _, set := range kernelops.All() {
		if l, ok := bySet[set.Name]; ok {
			t.Run(set.Name, func(t *testing.T) { check(t, l) })
		}
	}
}

func TestMultiplyAddSums(t *testing.T) {
	each(t, func(t *testing.T, l loops) {
		var sums, want [16]float32
		l.multiplyAdd(1000, 1.5, 2, &sums)
		for i := range l.lanes {
			want[i] = 3000
		}
		if sums != want {
			t.Errorf("sums %v, want %v", sums, want)
		}
	})
}

func TestReadTakesEveryWordOnce(t *testing.T) {
	each(t, func(t *testing.T, l loops) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{64, 128, 4096} {
			p := make([]uint64, n)
			words := [8]uint64{1, 2, 3, 4, 5, 6, 7, 8}
			want := words
			for i := range p {
				p[i] = rng.Uint64()
				want[i%8] ^= p[i]
			}
			l.read(p, &words)
			if words != want {
				t.Errorf("%d words: %x, want %x", n, words, want)
			}
		}
	})
}

// The words before and after the range stay: neither loop writes a step too many.
func TestStoresSetEveryWordAndNoOther(t *testing.T) {
	each(t, func(t *testing.T, l loops) {
		for name, set := range map[string]func([]uint64, uint64){"store": l.store, "stream": l.stream} {
			for _, n := range []int{64, 128, 4096} {
				p := aligned(n + 16)
				set(p[8:8+n], 7)
				for i, w := range p {
					if inside := i >= 8 && i < 8+n; inside && w != 7 || !inside && w != 0 {
						t.Fatalf("%s, %d words: word %d is %d", name, n, i-8, w)
					}
				}
			}
		}
	})
}

// aligned returns zeros that begin at a cache line.
func aligned(n int) []uint64 {
	p := make([]uint64, n+8)
	at := uintptr(unsafe.Pointer(&p[0])) / 8 % 8
	return p[(8-at)%8:][:n]
}

// TestMultiplyBytesSums has products of -2*200, 3*1, 0 and 127*255.
func TestMultiplyBytesSums(t *testing.T) {
	if best := kernelops.Best(); best.Name != "avx512" || !kernelops.HasBytes(best) {
		t.Skip("no AVX512_VNNI here")
	}
	var sums [16]int32
	MultiplyBytesAVX512(1000, 0x7f_00_03_fe, 0xff_09_01_c8, &sums)
	for i, sum := range sums {
		if want := int32(1000 * (-2*200 + 3*1 + 127*255)); sum != want {
			t.Errorf("lane %d: %d, want %d", i, sum, want)
		}
	}
}
