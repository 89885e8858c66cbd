package knn

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/fmath"
	"github.com/gram-compute/gram/protocol"
)

// overPi is 1/pi.
const overPi = 0x1.45f306dc9c883p-2

// Bounds of latitudes and longitudes, pi/2 and 2 pi with room for their rounding to float32.
const (
	mostLatitude  = 1.5708
	mostLongitude = 6.2832
)

// sineSquare is the square of sin(t/2).
func sineSquare(t float64) float64 {
	s, _ := fmath.Sincospi(float64(t * (overPi / 2)))
	return float64(s * s)
}

// angle is the distance on the sphere of radius 1 of a key of haversine.
func angle(key float64) float64 { return float64(2 * fmath.Asin(math.Sqrt(min(1, key)))) }

// keyOfAngle is a key at or above every key whose angle is not above d.
func keyOfAngle(d float64) float64 {
	if d >= 3.14 {
		return inf
	}
	return float64(sineSquare(d)*(1+0x1p-40)) + math.SmallestNonzeroFloat64
}

// cosines are those of the latitudes of rows.
func cosines(dst []float64, p *points) []float64 {
	dst = kernelops.Resize(dst, p.N)
	for i := range dst {
		_, dst[i] = fmath.Sincospi(float64(float64(p.Dense[2*i]) * overPi))
	}
	return dst
}

// sphere is haversine. A key is at least the part that the latitudes make.
func (s *searcher) sphere(q int, base *points) error {
	x := s.queries.Dense[2*q : 2*q+2]
	_, cos := fmath.Sincospi(float64(float64(x[0]) * overPi))
	worst := s.found.worst(q)
	for j := range base.N {
		y := base.Dense[2*j : 2*j+2]
		key := sineSquare(float64(x[0]) - float64(y[0]))
		if key > worst {
			continue
		}
		key += float64(float64(cos*s.cosines[j]) * sineSquare(float64(x[1])-float64(y[1])))
		if err := s.enter(q, key, base, j); err != nil {
			return err
		}
		worst = s.found.worst(q)
	}
	return nil
}

// checkPlace refuses what is no place on the sphere.
func checkPlace(id dataset.Identity, row []float32) error {
	switch {
	case math.Abs(float64(row[0])) > mostLatitude:
		return id.Fault("the latitude is %v; metric haversine takes radians from -pi/2 to pi/2 in the first column",
			row[0])
	case math.Abs(float64(row[1])) > mostLongitude:
		return id.Fault("the longitude is %v; metric haversine takes radians from -2 pi to 2 pi in the second column",
			row[1])
	}
	return nil
}

// onSphere reports whether records have two columns.
func (s *space) onSphere() bool { return s.vectors != nil && s.vectors.Dense() && s.vectors.Width == 2 }

// checkSphere refuses records that have no two columns.
func (s *space) checkSphere() error {
	if s.params.Metric != haversine || s.onSphere() {
		return nil
	}
	what := "texts"
	if !s.vectors.Texts() {
		what = "vectors"
	}
	return protocol.InputFault(protocol.CodeBadRecord,
		"metric haversine takes dense records of two columns, latitude and longitude; the records are %s of width %d",
		what, s.vectors.Width).WithHint("Choose the two columns in spec.input.features, or another metric.")
}
