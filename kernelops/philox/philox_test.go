package philox

import (
	"math"
	"math/bits"
	"testing"
)

// TestRounds checks the known answers of the authors' library (Random123, tests/kat_vectors, philox4x32 10).
func TestRounds(t *testing.T) {
	const ff = 0xffffffff
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ff, ff, ff, ff}, [2]uint32{ff, ff}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{
			[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
			[2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	} {
		if got := rounds(c.counter, c.key); got != c.want {
			t.Errorf("rounds(%x, %x) = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

// TestNaming checks how seeds, purposes and objects become words. The values come
// from a second implementation, in another language, of the package comment.
func TestNaming(t *testing.T) {
	for _, c := range []struct {
		seed          uint64
		purpose       string
		a, b          uint64
		first, second uint64
	}{
		{0, "", 0, 0, 0x2aa8479b46422db, 0x4d3ae22f58feb47a},
		{42, "split", 0, 0, 0x371407aaf34abb6e, 0x696d08fa8cda65f7},
		{42, "split", 1, 2, 0x82fbdbb8dc64b707, 0x2ee160f23e9555d2},
		{math.MaxUint64, "shuffle/ä", math.MaxUint64, 1 << 63, 0x9c8b37d40ebe5fb6, 0xf19bb1a11b511c08},
	} {
		first, second := New(c.seed, c.purpose).Block(c.a, c.b)
		if first != c.first || second != c.second {
			t.Errorf("New(%d, %q).Block(%d, %d) = %#x, %#x, want %#x, %#x",
				c.seed, c.purpose, c.a, c.b, first, second, c.first, c.second)
		}
	}
	for _, c := range []struct {
		object string
		offset int64
		word   uint64
		unit   float64
	}{
		{"part-0001.tsv", 0, 0x2b8dadd0184d27c, 0.010633162457014622},
		{"part-0001.tsv", 1 << 40, 0x2c53d3478081c5d4, 0.1731540727200871},
		{"", 7, 0xdcdc075fba72b305, 0.862732373114748},
	} {
		k := New(42, "split")
		if got := k.Object(c.object).Uint64(c.offset); got != c.word {
			t.Errorf("%q at %d: %#x, want %#x", c.object, c.offset, got, c.word)
		}
		if got := k.Float64At(c.object, c.offset); got != c.unit {
			t.Errorf("%q at %d: %v, want %v", c.object, c.offset, got, c.unit)
		}
	}
}

// TestUnit checks that the interval is half open.
func TestUnit(t *testing.T) {
	if got := unit(0); got != 0 {
		t.Errorf("unit(0) = %v, want 0", got)
	}
	if got := unit(math.MaxUint64); got != 1-0x1p-53 {
		t.Errorf("unit(2^64-1) = %v, want %v", got, 1-0x1p-53)
	}
}

// TestOrder draws the same identities forwards and backwards, and through both roads.
func TestOrder(t *testing.T) {
	k := New(3, "order")
	o := k.Object("a.tsv")
	const n = 1000
	var forward [n]float64
	for i := range n {
		forward[i] = o.Float64(int64(i))
	}
	for i := n - 1; i >= 0; i-- {
		if got := New(3, "order").Float64At("a.tsv", int64(i)); got != forward[i] {
			t.Fatalf("record %d: %v forwards, %v backwards", i, forward[i], got)
		}
	}
}

// TestUniform is Pearson's chi-square over 256 cells with a million draws, for single
// bytes of the word and for pairs of neighboring records. The seeds are fixed,
// so the test cannot flicker; 255 degrees of freedom lie within [184, 344] but for one in 10,000.
func TestUniform(t *testing.T) {
	const n = 1 << 20
	o := New(1, "uniform").Object("chi-square")
	other := New(1, "another").Object("chi-square")
	for name, cell := range map[string]func(i int64) uint64{
		"first byte":     func(i int64) uint64 { return o.Uint64(i) >> 56 },
		"last byte":      func(i int64) uint64 { return o.Uint64(i) & 255 },
		"fifth byte":     func(i int64) uint64 { return o.Uint64(i) >> 24 & 255 },
		"neighbors":      func(i int64) uint64 { return o.Uint64(i)>>60<<4 | o.Uint64(i+1)>>60 },
		"sparse offsets": func(i int64) uint64 { return o.Uint64(i*4096) >> 56 },
		"two purposes":   func(i int64) uint64 { return o.Uint64(i)>>60<<4 | other.Uint64(i)>>60 },
		"Float64":        func(i int64) uint64 { return uint64(o.Float64(i) * 256) },
	} {
		var count [256]int
		for i := range int64(n) {
			count[cell(i)]++
		}
		chi := 0.0
		for _, c := range count {
			d := float64(c) - n/256
			chi += d * d / (n / 256)
		}
		if chi < 184 || chi > 344 {
			t.Errorf("%s: chi-square %.1f with 255 degrees of freedom", name, chi)
		}
	}
}

// TestAvalanche flips single bits of the identity: each must flip half the output.
func TestAvalanche(t *testing.T) {
	k := New(9, "avalanche")
	for bit := range 128 {
		flipped := 0
		const n = 500
		for i := range uint64(n) {
			a, b := i*0x9e3779b97f4a7c15, i
			x0, x1 := k.Block(a, b)
			if bit < 64 {
				a ^= 1 << bit
			} else {
				b ^= 1 << (bit - 64)
			}
			y0, y1 := k.Block(a, b)
			flipped += bits.OnesCount64(x0^y0) + bits.OnesCount64(x1^y1)
		}
		// 500 * 128 fair bits: mean 32000, standard deviation 126.
		if flipped < 32000-5*126 || flipped > 32000+5*126 {
			t.Errorf("flipping bit %d of the identity flips %d of %d bits", bit, flipped, n*128)
		}
	}
}

var sink float64

func BenchmarkFloat64(b *testing.B) {
	o := New(1, "bench").Object("part-0001.tsv")
	for i := int64(0); b.Loop(); i++ {
		sink = o.Float64(i)
	}
}

func BenchmarkFloat64At(b *testing.B) {
	k := New(1, "bench")
	for i := int64(0); b.Loop(); i++ {
		sink = k.Float64At("part-0001.tsv", i)
	}
}
