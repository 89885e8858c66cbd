package main

// calls is a file that is added to the instrumented package, whose name is %s.
const calls = `package %s

import (
	"cmp"
	"os"
	"strconv"
)

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

type mutantInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

var mutantLive, _ = strconv.Atoi(os.Getenv("` + live + `"))

func mutantNot(turned int, v bool) bool { return v != (turned == mutantLive) }

func mutantLess[T cmp.Ordered](turned, bound int, x, y T) bool {
	if mutantLive == turned {
		return x >= y
	}
	if mutantLive == bound {
		return x <= y
	}
	return x < y
}

func mutantAtMost[T cmp.Ordered](turned, bound int, x, y T) bool {
	if mutantLive == turned {
		return x > y
	}
	if mutantLive == bound {
		return x < y
	}
	return x <= y
}

func mutantMore[T cmp.Ordered](turned, bound int, x, y T) bool {
	if mutantLive == turned {
		return x <= y
	}
	if mutantLive == bound {
		return x >= y
	}
	return x > y
}

func mutantAtLeast[T cmp.Ordered](turned, bound int, x, y T) bool {
	if mutantLive == turned {
		return x < y
	}
	if mutantLive == bound {
		return x > y
	}
	return x >= y
}

func mutantAdd[T mutantNumber](n int, x, y T) T {
	if n == mutantLive {
		return x - y
	}
	return x + y
}

func mutantSub[T mutantNumber](n int, x, y T) T {
	if n == mutantLive {
		return x + y
	}
	return x - y
}

func mutantMul[T mutantNumber](n int, x, y T) T {
	if n == mutantLive {
		return x / y
	}
	return x * y
}

func mutantQuo[T mutantNumber](n int, x, y T) T {
	if n == mutantLive {
		return x * y
	}
	return x / y
}

func mutantRem[T mutantInteger](n int, x, y T) T {
	if n == mutantLive {
		return x * y
	}
	return x %% y
}

func mutantNeg[T mutantNumber](n int, x T) T {
	if n == mutantLive {
		return x
	}
	return -x
}

func mutantInc[T mutantNumber](n int, x T) T {
	if n == mutantLive {
		return x - 1
	}
	return x + 1
}

func mutantDec[T mutantNumber](n int, x T) T {
	if n == mutantLive {
		return x + 1
	}
	return x - 1
}
`
