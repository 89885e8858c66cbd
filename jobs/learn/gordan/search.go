package gordan

import "math"

// search looks for coefficients above 0, of up to maxBasis rows, whose sum of a z is about 0, by non-negative least
// squares (Lawson and Hanson, "Solving Least Squares Problems", 1974, chapter 23). It works on scaled rows, which have
// such coefficients if and only if z does. It returns nil if it finds no such coefficients within its bounds.
func search(z [][]float64, biased bool) (basis []int, a []float64) {
	s := &squares{}
	var size []float64
	if s.z, size = scaled(z, biased); s.z == nil {
		return nil, nil
	}
	s.rest = make([]float64, len(s.z[0]))
	s.lost = make([]bool, len(z))
	for s.measure(); s.work < maxWork; s.measure() {
		next := s.steepest()
		if next < 0 {
			break
		}
		if len(s.basis) == maxBasis {
			return nil, nil
		}
		s.basis, s.a = append(s.basis, next), append(s.a, 0)
		s.settle(next)
	}
	const near = 1e-6
	if !(length(s.rest) <= near) {
		return nil, nil
	}
	for i, row := range s.basis {
		s.a[i] /= size[row]
	}
	return s.basis, s.a
}

// scaled returns rows of length 1, with a column of 1 added at the end, and their lengths before. First it subtracts
// from each column the multiple of the first one, that of the bias, that gives it a mean of about 0, and divides each
// column by a power of two. It returns nil if the length of a row is 0 or not finite.
func scaled(z [][]float64, biased bool) (rows [][]float64, size []float64) {
	width := len(z[0])
	rows, size = make([][]float64, len(z)), make([]float64, len(z))
	for i := range rows {
		rows[i] = append(make([]float64, 0, width+1), z[i]...)
	}
	for j := range width {
		mean, greatest := 0.0, 0.0
		for i := range rows {
			if biased && j > 0 {
				mean += rows[i][j] / rows[i][0] / float64(len(rows))
			}
		}
		for i := range rows {
			if mean != 0 {
				rows[i][j] -= float64(mean * z[i][0])
			}
			greatest = max(greatest, math.Abs(rows[i][j]))
		}
		_, exponent := math.Frexp(greatest)
		for i := range rows {
			rows[i][j] = math.Ldexp(rows[i][j], -exponent)
		}
	}
	for i, row := range rows {
		size[i] = length(row)
		if !(size[i] > 0 && size[i] <= math.MaxFloat64) {
			return nil, nil
		}
		for j := range row {
			row[j] /= size[i]
		}
		rows[i] = append(row, 1)
	}
	return rows, size
}

// squares is the state of a search for the non-negative combination of rows that is nearest to (0, ..., 0, 1).
type squares struct {
	z     [][]float64
	basis []int
	a     []float64
	rest  []float64 // (0, ..., 0, 1) minus the combination of the basis
	lost  []bool    // rows that joined the basis and fell out at once: only rounding made them look useful
	work  int       // products so far
}

// measure computes rest.
func (s *squares) measure() {
	clear(s.rest)
	s.rest[len(s.rest)-1] = 1
	for i, row := range s.basis {
		subtract(s.rest, s.z[row], s.a[i])
	}
	s.work += len(s.rest) * (len(s.basis) + len(s.z))
}

// steepest returns the row along which the distance falls most steeply, -1 if it falls along no row.
func (s *squares) steepest() int {
	next, most := -1, 1e-13
	in := make(map[int]bool, len(s.basis))
	for _, row := range s.basis {
		in[row] = true
	}
	for i, row := range s.z {
		if slope := dot(row, s.rest); slope > most && !in[i] && !s.lost[i] {
			next, most = i, slope
		}
	}
	return next
}

// settle moves to the best coefficients of the basis, and drops rows whose coefficients reach 0 on the way.
func (s *squares) settle(last int) {
	for len(s.basis) > 0 {
		best := s.solve()
		part := 1.0
		for i, v := range best {
			if v <= 0 {
				part = min(part, s.a[i]/(s.a[i]-v))
			}
		}
		kept := 0
		for i, v := range best {
			a := s.a[i] + float64(part*(v-s.a[i]))
			if v <= 0 && (part == 1 || s.a[i]/(s.a[i]-v) <= part) || !(a > 0) {
				if s.basis[i] == last && s.a[i] == 0 {
					s.lost[last] = true
				}
				continue
			}
			s.basis[kept], s.a[kept] = s.basis[i], a
			kept++
		}
		done := kept == len(best)
		s.basis, s.a = s.basis[:kept], s.a[:kept]
		if done {
			return
		}
	}
}

// solve returns the coefficients, of any sign, with which the combination of the basis is nearest to (0, ..., 0, 1), by
// modified Gram-Schmidt, each row orthogonalized twice.
func (s *squares) solve() []float64 {
	k, width := len(s.basis), len(s.rest)
	s.work += 4 * k * k * width
	q, r := make([][]float64, k), make([][]float64, k)
	best := make([]float64, k)
	rest := make([]float64, width)
	rest[width-1] = 1
	for i, row := range s.basis {
		q[i], r[i] = append([]float64(nil), s.z[row]...), make([]float64, k)
		for range 2 {
			for e := range i {
				product := dot(q[i], q[e])
				r[e][i] += product
				subtract(q[i], q[e], product)
			}
		}
		r[i][i] = length(q[i])
		if r[i][i] <= 1e-14 {
			r[i][i] = math.Inf(1) // it depends on those before: its coefficient is 0
		}
		for j := range q[i] {
			q[i][j] /= r[i][i]
		}
		best[i] = dot(rest, q[i])
		subtract(rest, q[i], best[i])
	}
	for i := k - 1; i >= 0; i-- {
		for e := i + 1; e < k; e++ {
			best[i] -= float64(r[i][e] * best[e])
		}
		best[i] /= r[i][i]
	}
	return best
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += float64(v * y[j])
	}
	return sum
}

func subtract(x, y []float64, a float64) {
	for j, v := range y {
		x[j] -= float64(a * v)
	}
}

func length(x []float64) float64 { return math.Sqrt(dot(x, x)) }
