package knn

import "math"

var inf = math.Inf(1)

// metric is a distance by its name in the parameters.
type metric string

const (
	l2           metric = "l2"
	cosine       metric = "cosine"
	innerProduct metric = "inner_product"
	l1           metric = "l1"
	linf         metric = "linf"
	hamming      metric = "hamming"
	edit         metric = "edit"
)

var metrics = []metric{l2, cosine, innerProduct, l1, linf, hamming, edit}

// distance is that of a key. Keys order neighbors; for l2 they are squares, else distances.
func (m metric) distance(key float64) float64 {
	if m == l2 {
		return math.Sqrt(key)
	}
	return key
}

// keyOf is a key at or above every key whose distance is not above d.
func (m metric) keyOf(d float64) float64 {
	if m == l2 {
		// sqrt(key) <= d holds up to some key within an ulp or two of d*d
		return float64(d*d*(1+0x1p-50)) + math.SmallestNonzeroFloat64
	}
	return d
}

// lanes is the number of partial sums of a float64 distance: part of what it means.
const lanes = 8

// sum adds lanes up by the tree j+4, j+2, j+1.
func sum(lane *[lanes]float64) float64 {
	return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))
}

// dot64 is the dot product of x and y. The products are exact.
func dot64(x, y []float32) float64 {
	var lane [lanes]float64
	y = y[:len(x)]
	i := 0
	for ; i+lanes <= len(x); i += lanes {
		a, b := (*[lanes]float32)(x[i:]), (*[lanes]float32)(y[i:])
		for j := range lane {
			lane[j] += float64(float64(a[j]) * float64(b[j]))
		}
	}
	for j := range x[i:] {
		lane[j] += float64(float64(x[i+j]) * float64(y[i+j]))
	}
	return sum(&lane)
}

// square64 is the squared Euclidean distance: what kernelops.Set.Search computes.
func square64(x, y []float32) float64 {
	var lane [lanes]float64
	y = y[:len(x)]
	for i := range x {
		t := float64(x[i]) - float64(y[i])
		lane[i%lanes] += float64(t * t)
	}
	return sum(&lane)
}

// manhattan64 is the sum of the differences' magnitudes.
func manhattan64(x, y []float32) float64 {
	var lane [lanes]float64
	y = y[:len(x)]
	for i := range x {
		lane[i%lanes] += math.Abs(float64(x[i]) - float64(y[i]))
	}
	return sum(&lane)
}

// chebyshev64 is the largest difference's magnitude.
func chebyshev64(x, y []float32) float64 {
	d := 0.0
	y = y[:len(x)]
	for i := range x {
		d = max(d, math.Abs(float64(x[i])-float64(y[i])))
	}
	return d
}

// key is the key of two rows with the given norms, which cosine alone needs.
func (m metric) key(x, y []float32, xNorm, yNorm float64) float64 {
	switch m {
	case innerProduct:
		return 0 - dot64(x, y)
	case cosine:
		return 1 - cosineOf(dot64(x, y), xNorm, yNorm)
	case l1:
		return manhattan64(x, y)
	case linf:
		return chebyshev64(x, y)
	}
	return square64(x, y)
}

func cosineOf(dot, xNorm, yNorm float64) float64 {
	product := float64(xNorm * yNorm)
	if product == 0 {
		return 0
	}
	return min(1, max(-1, dot/product))
}

// norm64 is the Euclidean norm.
func norm64(x []float32) float64 { return math.Sqrt(dot64(x, x)) }
