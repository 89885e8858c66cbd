package floattoint

type code uint8

type number interface{ ~int | ~float64 }

func bare(x float64) int { return int(x) } // want `float converted to an integer`

func narrow(x float32) code { return code(x) } // want `float converted to an integer`

func generic[T number](x float64) T { return T(x) } // want `float converted to an integer`

func above(x float64) int {
	if !(x >= 0 && x < 1<<31) {
		return 0
	}
	//lint:checked in [0, 2^31), NaN excluded
	return int(x)
}

func beside(x float64) int {
	return int(x) //lint:checked the caller passes a bucket number
}

func silent(x float64) int {
	//lint:checked // want `//lint:checked gives no reason`
	return int(x)
}

func idle(x float64) float64 {
	//lint:checked nothing to check // want `//lint:checked excuses nothing`
	return x
}

func constant() int { return int(3.0) }

func widened(x float32) float64 { return float64(x) }

func fromInt(x int) float64 { return float64(x) }
