package products

import "math"

type metre float64

type float interface{ ~float32 | ~float64 }

func direct(x, y, z float64) float64 { return x*y + z } // want `fused with an addition: round it at once, as in float64\(x\*y\)`

func minus(x, y, z float32) float32 { return z - (x * y) } // want `as in float32`

func negated(x, y, z float64) float64 { return -(x * y) + z } // want `fused`

func addAssign(x, y, z float64) float64 {
	z += x * y // want `fused`
	return z
}

func mulAssign(x, y float32) float32 {
	x *= y // want `write x = float32\(x\*y\)`
	return x
}

func acrossStatements(x, y, z float64) float64 {
	t := x * y // want `fused`
	return t + z
}

func inlined(x, y float64) float64 { return x * y } // want `fused`

func stored(xs []float64, x, y float64) {
	xs[0] = x * y // want `fused`
}

func argument(x, y float64) float64 { return inlined(x*y, y) } // want `fused`

func abs(x, y, z float64) float64 { return math.Abs(x*y) + z } // want `fused`

func named(x, y, z metre) metre { return x*y + z } // want `as in metre`

func generic[T float](x, y, z T) T { return x*y + z } // want `as in T`

func last(x, y, z, w float64) float64 { return x*y*z + w } // want `fused`

func complexNumbers(x, y, z complex128) complex128 { return x*y + z } // want `fused`

func rounded(x, y, z float64) float64 { return float64(x*y) + z }

func roundedNegated(x, y, z float64) float64 { return z + float64(-(x * y)) }

func roundedGeneric[T float](x, y, z T) T { return T(x*y) + z }

func factor(x, y, z float64) float64 { return float64(x * y * z) }

func divided(x, y, z float64) float64 { return x * y / z }

func compared(x, y, z float64) bool { return x*y < z }

func root(x, y, z float64) float64 { return math.Sqrt(x*y) + z }

func fused(x, y, z float64) float64 { return math.FMA(x, y, z) }

func integers(x, y, z int) int { return x*y + z }

func constants(z float64) float64 { return 2*math.Pi + z }
