package fmath

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"strconv"
	"testing"
)

// The digests of every result over the first n arguments of the stream. They are the
// promise of this package: a change of one bit anywhere changes every model trained with it.
var digests = map[int]string{
	100_000:    "2c83ac1683cdcfc3c838635d3cb649d048689d24f7e1f4a0455125b663a4f6c0",
	1_000_000:  "b698eb1947387d5cabeeba7ac24560398b63347112971d1b687d51136aa17e26",
	10_000_000: "a3794780ce65c1b0dd0a76e6a7b7b8b457c60ffe6a52dce0af393d4a55196ef9",
}

// digestEnv chooses the number of arguments in a child process.
const digestEnv = "GRAM_FMATH_DIGEST_INPUTS"

func TestDigest(t *testing.T) {
	n := digestInputs(10_000_000, testing.Short())
	if s := os.Getenv(digestEnv); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("%s=%q is not a number", digestEnv, s)
		}
	}
	want, ok := digests[n]
	if !ok {
		t.Fatalf("no digest of %d inputs is known", n)
	}
	if got := digest(n); got != want {
		t.Errorf("digest of %d inputs is %s, want %s", n, got, want)
	}
}

// digestInputs is n, or less where the run is to be short or the race detector slows it.
func digestInputs(n int, short bool) int {
	switch {
	case short:
		return 100_000
	case raceEnabled:
		return min(n, 1_000_000)
	}
	return n
}

// digest is the SHA-256 of the results on n arguments, five float64 each, little endian.
func digest(n int) string {
	h := sha256.New()
	buf := make([]byte, 0, 40*1024)
	g := gen(2026)
	for i := range n {
		x := g.argument(i)
		sin, cos := Sincospi(x)
		for _, y := range [...]float64{Log(x), Exp(x), sin, cos, Tanh(x)} {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(y))
		}
		if len(buf) == cap(buf) || i == n-1 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// argument returns the i-th argument: eight families in turn, so that each function
// meets its hard places and any bit pattern at all.
func (g *gen) argument(i int) float64 {
	switch i & 7 {
	case 0:
		return math.Float64frombits(g.next()) // NaN, infinite, huge, tiny
	case 1:
		return g.uniform(-750, 750) // the range of Exp
	case 2:
		return 1 + g.log2uniform(-53, -1) // Log near 1
	case 3:
		return g.uniform(0, 2) // one period of Sincospi
	case 4:
		return g.log2uniform(-40, 10)
	case 5:
		return float64(int64(g.next())>>(g.next()&63)) * 0.125 // eighths: exact cases, huge and small
	case 6:
		return g.uniform(-21, 21) // the range of Tanh
	default:
		return math.Float64frombits(g.next() & (1<<53 - 1)) // subnormal and just above
	}
}
