package kernelops

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

// dots2x4 sets dst[i:i+2][j:j+4]. It rounds each sum to float64 and then to float32, and looks closer
// where that may differ from rounding once.
func dots2x4(dst, x, y Matrix, i, j int) {
	n := x.Cols
	x0, x1 := x.Row(i), x.Row(i + 1)[:n]
	y0, y1, y2, y3 := y.Row(j)[:n], y.Row(j + 1)[:n], y.Row(j + 2)[:n], y.Row(j + 3)[:n]
	var a0, a1, a2, a3, b0, b1, b2, b3 float64 // float32 values
	for k, v := range x0 {
		p, q := float64(v), float64(x1[k])
		r0, r1, r2, r3 := float64(y0[k]), float64(y1[k]), float64(y2[k]), float64(y3[k])
		s0, s1, s2, s3 := a0+float64(p*r0), a1+float64(p*r1), a2+float64(p*r2), a3+float64(p*r3)
		t0, t1, t2, t3 := b0+float64(q*r0), b1+float64(q*r1), b2+float64(q*r2), b3+float64(q*r3)
		if roundsTwice(s0) {
			s0 = float64(roundOnce(float64(p*r0), a0, s0))
		}
		if roundsTwice(s1) {
			s1 = float64(roundOnce(float64(p*r1), a1, s1))
		}
		if roundsTwice(s2) {
			s2 = float64(roundOnce(float64(p*r2), a2, s2))
		}
		if roundsTwice(s3) {
			s3 = float64(roundOnce(float64(p*r3), a3, s3))
		}
		if roundsTwice(t0) {
			t0 = float64(roundOnce(float64(q*r0), b0, t0))
		}
		if roundsTwice(t1) {
			t1 = float64(roundOnce(float64(q*r1), b1, t1))
		}
		if roundsTwice(t2) {
			t2 = float64(roundOnce(float64(q*r2), b2, t2))
		}
		if roundsTwice(t3) {
			t3 = float64(roundOnce(float64(q*r3), b3, t3))
		}
		a0, a1, a2, a3 = float64(float32(s0)), float64(float32(s1)), float64(float32(s2)), float64(float32(s3))
		b0, b1, b2, b3 = float64(float32(t0)), float64(float32(t1)), float64(float32(t2)), float64(float32(t3))
	}
	d, e := dst.Row(i)[j:j+4], dst.Row(i + 1)[j:j+4]
	d[0], d[1], d[2], d[3] = float32(a0), float32(a1), float32(a2), float32(a3)
	e[0], e[1], e[2], e[3] = float32(b0), float32(b1), float32(b2), float32(b3)
}

// sqNorms sets norms[i] to the square of the norm of row i of x.
func sqNormsGeneric(norms []float32, x Matrix) {
	for i := range norms {
		row := x.Row(i)
		norms[i] = chain32(row, row, 0)
	}
}
