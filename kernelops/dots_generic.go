package kernelops

import "math"

// stepsGeneric is the number of steps after which a block of chains looks whether
// one of its sums may have been rounded twice. At most 32.
const stepsGeneric = 32

// dotsGeneric is the loop of Dots. It takes 2 rows of x by 4 of y at a time: eight chains,
// which do not wait for each other.
func dotsGeneric(dst, x, y Matrix) {
	i := 0
	for ; i+2 <= x.Rows; i += 2 {
		j := 0
		for ; j+4 <= y.Rows; j += 4 {
			dots2x4(dst, x, y, i, j)
		}
		for ; j < y.Rows; j++ {
			dst.Row(i)[j] = chain32(x.Row(i), y.Row(j), 0)
			dst.Row(i + 1)[j] = chain32(x.Row(i+1), y.Row(j), 0)
		}
	}
	for ; i < x.Rows; i++ {
		for j := range y.Rows {
			dst.Row(i)[j] = chain32(x.Row(i), y.Row(j), 0)
		}
	}
}

// dots2x4 sets dst[i:i+2][j:j+4].
func dots2x4(dst, x, y Matrix, i, j int) {
	var acc [2][4]float32
	for k := 0; k < x.Cols; k += stepsGeneric {
		end := min(k+stepsGeneric, x.Cols)
		xs := [2][]float32{x.Row(i)[k:end], x.Row(i + 1)[k:end]}
		ys := [4][]float32{y.Row(j)[k:end], y.Row(j + 1)[k:end], y.Row(j + 2)[k:end], y.Row(j + 3)[k:end]}
		next, doubt := steps2x4(&xs, &ys, acc)
		if doubt {
			for r := range next {
				for c := range next[r] {
					next[r][c] = chain32(xs[r], ys[c], acc[r][c])
				}
			}
		}
		acc = next
	}
	copy(dst.Row(i)[j:], acc[0][:])
	copy(dst.Row(i + 1)[j:], acc[1][:])
}

// steps2x4 continues the chains of 2 rows by 4 from acc, each sum rounded to float64 and then to
// float32. It reports whether that may have differed from rounding once anywhere.
func steps2x4(xs *[2][]float32, ys *[4][]float32, acc [2][4]float32) ([2][4]float32, bool) {
	n := len(xs[0])
	x0, x1 := xs[0], xs[1][:n]
	y0, y1, y2, y3 := ys[0][:n], ys[1][:n], ys[2][:n], ys[3][:n]
	a0, a1, a2, a3 := float64(acc[0][0]), float64(acc[0][1]), float64(acc[0][2]), float64(acc[0][3])
	b0, b1, b2, b3 := float64(acc[1][0]), float64(acc[1][1]), float64(acc[1][2]), float64(acc[1][3])
	doubt := false
	for k, v := range x0 {
		p, q := float64(v), float64(x1[k])
		r0, r1, r2, r3 := float64(y0[k]), float64(y1[k]), float64(y2[k]), float64(y3[k])
		a0 += float64(p * r0)
		a1 += float64(p * r1)
		a2 += float64(p * r2)
		a3 += float64(p * r3)
		b0 += float64(q * r0)
		b1 += float64(q * r1)
		b2 += float64(q * r2)
		b3 += float64(q * r3)
		if roundsTwice(a0) || roundsTwice(a1) || roundsTwice(a2) || roundsTwice(a3) ||
			roundsTwice(b0) || roundsTwice(b1) || roundsTwice(b2) || roundsTwice(b3) {
			doubt = true
			break
		}
		a0, a1, a2, a3 = float64(float32(a0)), float64(float32(a1)), float64(float32(a2)), float64(float32(a3))
		b0, b1, b2, b3 = float64(float32(b0)), float64(float32(b1)), float64(float32(b2)), float64(float32(b3))
	}
	return [2][4]float32{
		{float32(a0), float32(a1), float32(a2), float32(a3)},
		{float32(b0), float32(b1), float32(b2), float32(b3)},
	}, doubt
}

// sqNorms sets norms[i] to the square of the norm of row i of x.
func sqNormsGeneric(norms []float32, x Matrix) {
	for i := range norms {
		row := x.Row(i)
		norms[i] = chain32(row, row, 0)
	}
}

// sqrt32 is the correctly rounded root: rounding the float64 root again cannot
// go wrong, because float64 has more than twice the digits of float32.
func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }
