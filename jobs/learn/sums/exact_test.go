package sums

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
)

// 2^100 + 1 - 2^100 is 1; 1 + 2^-53 is a tie, which goes to the even 1, and 1 + 2^-53 + 2^-1074 is above it.
func TestExactByHand(t *testing.T) {
	e := NewExact(4)
	for i, terms := range [][]float64{
		{0x1p100, 1, -0x1p100}, {1, 0x1p-53}, {1, 0x1p-53, 0x1p-1074}, {-1, -0x1p-52, -0x1p-53},
	} {
		for _, v := range terms {
			e.Add(i, v)
		}
	}
	want := []float64{1, 1, 1 + 0x1p-52, -1 - 0x1p-51}
	if got := e.Floats(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if e.low != firstLimb || e.Unit() != 64*firstLimb {
		t.Errorf("the unit is 2^%d", e.Unit())
	}
}

func drawFloat(t *rapid.T) float64 {
	exponent := rapid.SampledFrom([]int{0, 0, 0, -30, 60, -1074, 900, -300}).Draw(t, "exponent")
	v := float64(rapid.Int64Range(-1<<53, 1<<53).Draw(t, "mantissa"))
	return math.Ldexp(v, exponent+rapid.IntRange(0, 3).Draw(t, "more"))
}

func bigSum(terms []float64) *big.Float {
	sum := new(big.Float).SetPrec(3000)
	for _, v := range terms {
		sum.Add(sum, big.NewFloat(v))
	}
	return sum
}

// Any cut of any numbers gives equal arrays, and the nearest float64 to their exact sum.
func TestExactIsOrderFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := make([][]float64, 3)
		whole, parts := NewExact(3), []*Exact{NewExact(3), NewExact(3), NewExact(3)}
		type term struct {
			i int
			v float64
		}
		var all []term
		for range rapid.IntRange(0, 30).Draw(t, "numbers") {
			n := term{rapid.IntRange(0, 2).Draw(t, "sum"), drawFloat(t)}
			all, terms[n.i] = append(all, n), append(terms[n.i], n.v)
			whole.Add(n.i, n.v)
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, n := range all {
			parts[r.IntN(3)].Add(n.i, n.v)
		}
		sum := plus(t, plus(t, parts[0], parts[1]), parts[2])
		again := plus(t, parts[0], plus(t, parts[1], parts[2]))
		if !reflect.DeepEqual(arrays(whole), arrays(sum)) || !reflect.DeepEqual(arrays(again), arrays(sum)) {
			t.Fatalf("%+v, %+v and %+v", whole, sum, again)
		}
		for i, list := range terms {
			want, _ := bigSum(list).Float64()
			if got := sum.Float(i); got != want {
				t.Fatalf("sum of %v is %v, want %v", list, got, want)
			}
		}
	})
}

func plus(t *rapid.T, a, b *Exact) *Exact {
	sum, err := a.Plus(b)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

type storedExact struct{ *Exact }

func (s storedExact) Fields(f *jobs.Fields) { s.Exact.Fields(f, "sum") }

func arrays(e *Exact) jobs.Arrays { return jobs.ArraysOf(storedExact{e}) }

// Sums that were stored, near the end of their limbs, take further numbers.
func TestExactTakesMore(t *testing.T) {
	e := NewExact(1)
	for range 3 {
		e.Add(0, 0x1p126)
	}
	back, err := jobs.Read(arrays(e), storedExact{NewExact(0)})
	if err != nil || back.limbs != 2 {
		t.Fatalf("%+v, %v", back, err)
	}
	back.Add(0, 0x1.8p127) // 2^128 and a half of it are more than two limbs hold with a sign
	if got := back.Float(0); got != 0x1.8p128 {
		t.Errorf("%v", got)
	}
	fill := NewExact(1)
	fill.limb, fill.limbs = []uint64{math.MaxUint64, math.MaxUint64, math.MaxInt64}, 3
	fill.Add(0, 1)
	if got := fill.Float(0); got != 0x1p191 {
		t.Errorf("%v", got)
	}
}

func TestExactRefusesOtherSums(t *testing.T) {
	_, err := NewExact(1).Plus(NewExact(2))
	wantCorrupt(t, "another number of sums", err)
	a := arrays(NewExact(2))
	jobs.PutScalar(a, "sum.low", int64(lastLimb+1))
	_, err = jobs.Read(a, storedExact{NewExact(0)})
	wantCorrupt(t, "limbs too high", err)
	jobs.PutScalar(a, "sum.low", int64(0))
	jobs.Put(a, "sum", make([]uint64, 60), 2, 30)
	_, err = jobs.Read(a, storedExact{NewExact(0)})
	wantCorrupt(t, "too many limbs", err)
}

// A weight of 24 bits times a square of 48 is 72 bits.
func TestAddWeighted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	e, want := NewExact(1), new(big.Float).SetPrec(3000)
	for range 1000 {
		w, x := float32(r.Float64()), float64(float32(r.NormFloat64()*math.Exp(20*r.NormFloat64())))
		e.AddWeighted(0, w, x*x)
		want.Add(want, new(big.Float).SetPrec(3000).Mul(big.NewFloat(float64(w)),
			new(big.Float).SetPrec(3000).Mul(big.NewFloat(x), big.NewFloat(x))))
	}
	got := new(big.Float).SetMantExp(new(big.Float).SetInt(e.Int(0)), e.Unit())
	if got.Cmp(want) != 0 {
		t.Errorf("%v, want %v", got, want)
	}
}

// Squares of 53 bits have 106, at any exponent; beyond, they are rounded.
func TestAddSquare(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	e, want := NewExact(1), new(big.Float).SetPrec(4000)
	for range 1000 {
		v := math.Ldexp(r.NormFloat64(), r.IntN(880)-390)
		e.AddSquare(0, v)
		want.Add(want, new(big.Float).SetPrec(4000).Mul(big.NewFloat(v), big.NewFloat(v)))
	}
	if got := new(big.Float).SetMantExp(new(big.Float).SetInt(e.Int(0)), e.Unit()); got.Cmp(want) != 0 {
		t.Errorf("%v, want %v", got, want)
	}
	for v, want := range map[float64]float64{0: 0, 0x1p-500: 0x1p-1000, 0x1p600: math.MaxFloat64, 3: 9} {
		e := NewExact(1)
		e.AddSquare(0, v)
		if got := e.Float(0); got != want {
			t.Errorf("%v squared is %v, want %v", v, got, want)
		}
	}
}

func BenchmarkExactAdd(b *testing.B) {
	e, v := NewExact(64), make([]float64, 1024)
	for i := range v {
		v[i] = rand.NormFloat64()
	}
	for i := 0; b.Loop(); i++ {
		e.Add(i%64, v[i%1024])
	}
}
