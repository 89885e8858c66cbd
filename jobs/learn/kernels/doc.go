// Package kernels lets a job choose a kernel function of package kernelops, for every algorithm
// that sees vectors only through their inner products (Smola and Vishwanathan, "Introduction to
// Machine Learning", section 1.3.3, equations 1.23 and 1.24).
//
//	linear      <x, y>
//	polynomial  (scale <x, y> + offset)^degree     scale 1, offset 1, degree 2 by default
//	rbf         exp(-gamma |x - y|^2)              gamma 1 / width by default
//	sigmoid     tanh(scale <x, y> + offset)        scale 1 / width, offset 0 by default
//
// The rbf kernel is translation invariant: a Function centers dense rows on an origin before their products are taken,
// and an Evaluator measures those pairs by differences whose |x - y|^2 the products do not give to a proved
// tolerance. docs/numerics.md has the bounds ("Kernels of differences").
//
// An Exact evaluates any kernel in float64 instead, of rows as they were read, with a proved error.
//
// Parameters become float32. The linear, the rbf and, with a scale and an offset that are not
// negative, the polynomial kernel are positive semidefinite; the sigmoid is not in general. A value of a
// polynomial may be beyond float32, and is +Inf then: Beyond is the fault for it.
package kernels
