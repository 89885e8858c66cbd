package kernelops

import (
	"errors"
	"fmt"
)

// ErrKernel is wrapped where the parameters of a Kernel are impossible.
var ErrKernel = errors.New("impossible kernel")

// KernelKind names a kernel function.
type KernelKind uint8

// The kernels, for the dot product of two points x and y.
const (
	Linear     KernelKind = iota // dot
	Polynomial                   // (Scale*dot + Offset)^Degree
	RBF                          // exp(-Scale * |x-y|^2)
	Sigmoid                      // tanh(Scale*dot + Offset)
)

// maxDegree keeps a call of an assembly kernel short.
const maxDegree = 64

// Kernel is a kernel function with its parameters; those that its kind does not use
// are ignored. The zero Kernel is linear.
type Kernel struct {
	Kind          KernelKind
	Scale, Offset float32
	Degree        int
}

// Validate returns an error that wraps ErrKernel unless the parameters are possible:
// finite, an RBF scale above 0, a polynomial degree from 1 to 64.
func (k Kernel) Validate() error {
	finite := func(x float32) bool { return x-x == 0 }
	switch {
	case k.Kind > Sigmoid:
		return fmt.Errorf("kernelops: %w: no kind %d", ErrKernel, k.Kind)
	case k.Kind != Linear && !finite(k.Scale):
		return fmt.Errorf("kernelops: %w: scale is %v, must be finite", ErrKernel, k.Scale)
	case k.Kind == RBF && k.Scale <= 0:
		return fmt.Errorf("kernelops: %w: scale of an RBF kernel is %v, must be above 0", ErrKernel, k.Scale)
	case (k.Kind == Polynomial || k.Kind == Sigmoid) && !finite(k.Offset):
		return fmt.Errorf("kernelops: %w: offset is %v, must be finite", ErrKernel, k.Offset)
	case k.Kind == Polynomial && (k.Degree < 1 || k.Degree > maxDegree):
		return fmt.Errorf("kernelops: %w: degree is %d, must be from 1 to %d", ErrKernel, k.Degree, maxDegree)
	}
	return nil
}

// measure says how a pair's value follows from its dot product and the two norms.
type measure struct {
	kind          measureKind
	scale, offset float32
	degree        int
}

type measureKind uint8

const (
	dotOnly measureKind = iota
	sqDist
	polynomial
	gaussian
	sigmoid
)

// measure returns what k does to a pair, and panics if k is impossible.
func (k Kernel) measure() measure {
	if k.Validate() != nil {
		panic("kernelops: impossible kernel")
	}
	switch k.Kind {
	case Polynomial:
		return measure{kind: polynomial, scale: k.Scale, offset: k.Offset, degree: k.Degree}
	case RBF:
		return measure{kind: gaussian, scale: -k.Scale}
	case Sigmoid:
		return measure{kind: sigmoid, scale: k.Scale, offset: k.Offset}
	}
	return measure{}
}

// value is the measure of a pair in Go. The norms are squared.
func (m measure) value(dot, xNorm, yNorm float32) float32 {
	switch m.kind {
	case sqDist:
		return sqDistOf(dot, xNorm, yNorm)
	case polynomial:
		t := fma32(m.scale, dot, m.offset)
		p := t
		for range m.degree - 1 {
			p = float32(p * t)
		}
		return p
	case gaussian:
		return exp32(float32(m.scale * sqDistOf(dot, xNorm, yNorm)))
	case sigmoid:
		return tanh32(fma32(m.scale, dot, m.offset))
	}
	return dot
}

func sqDistOf(dot, xNorm, yNorm float32) float32 {
	d := fma32(-2, dot, xNorm+yNorm)
	if d < 0 {
		return 0
	}
	return d
}

// needsNorms reports whether value reads the norms.
func (m measure) needsNorms() bool {
	return m.kind == sqDist || m.kind == gaussian
}
