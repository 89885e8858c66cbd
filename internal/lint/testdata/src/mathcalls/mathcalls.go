package mathcalls

import (
	"math"
	"math/cmplx"
)

func called(x float64) float64 { return math.Log(x) } // want `math.Log has other bits on other builds`

func asValue() func(float64) float64 { return math.Exp } // want `math.Exp`

func power(x, y float64) float64 { return math.Pow(x, y) } // want `math.Pow`

func hypot(x, y float64) float64 { return math.Hypot(x, y) } // want `math.Hypot`

func modulus(x complex128) float64 { return cmplx.Abs(x) } // want `math/cmplx.Abs`

func exact(x, y float64) float64 { return math.Sqrt(math.Abs(x)) + math.FMA(x, y, math.Floor(y)) }

func constant() float64 { return math.Pi }

type table struct{}

// Log is a method: no function of package math.
func (table) Log(x float64) float64 { return x }

func method(x float64) float64 { return table{}.Log(x) }
