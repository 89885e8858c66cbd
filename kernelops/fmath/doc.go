// Package fmath computes elementary functions of float64 with the same bits on
// every machine.
//
// The functions of package math cannot be used where a result must be the same
// everywhere: some are assembly on some architectures, and the compiler may fuse
// x*y + z into one rounding where the target has the instruction (arm64,
// GOAMD64=v3). Here every product that feeds a sum is rounded by an explicit
// conversion, float64(x*y) + z, which the language forbids to fuse, and nothing is used
// but + - * /, square roots, comparisons and bit patterns. All five are correctly rounded by IEEE
// 754, so the bits follow from the text.
//
// Every function is within 1 ulp of the exact value; each says what was measured.
// The unit is one ulp of the exact result, or the spacing of subnormals below them.
// A NaN result is always the one NaN of math.NaN, whatever the argument's payload.
//
// The designs are known ones: additive argument reduction by a two-part constant
// (Cody and Waite, Software Manual for the Elementary Functions, 1980), leading
// term kept apart from the polynomial (FDLIBM, Sun Microsystems, 1993; Tang, ACM
// TOMS 15(2), 1989), and error-free sums and products (Dekker, Numerische
// Mathematik 18, 1971; Knuth, TAOCP 2, section 4.2.2). The polynomials are Taylor series, two
// or three terms longer than a minimax fit would need, so that each coefficient can be read.
package fmath
