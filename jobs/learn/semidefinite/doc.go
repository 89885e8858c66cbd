// Package semidefinite proves in which interval the least eigenvalue of a symmetric matrix of float32 values lies, and
// makes a positive semidefinite matrix of one that is not. Every result is the same to the bit on each machine: it is
// float64 arithmetic in a fixed order, with each product rounded before it is added.
//
// # Proofs
//
// An eigensolver finds the least eigenvalue: Householder's reduction to a tridiagonal matrix, and bisection by Sturm
// counts (Golub and Van Loan, Matrix Computations, sections 8.3.1 and 8.4.1). Nothing is proved by it. Both ends of the
// interval stand on bounds of their own:
//
// From above, any vector v is a witness: the least eigenvalue is at most v'Kv / v'v. The quotient of an approximate
// eigenvector is computed with a bound on its rounding (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
// section 3.1).
//
// From below, Cholesky's method is run on A = K + s I. If it comes to its end, its factor has R'R = A + E with
// |E| <= g |R'||R| by elements and g = (n+1) u / (1 - (n+1) u), u = 2^-53 (Higham, theorem 10.3). Hence
// |E| <= g |R|_F^2 <= g / (1-g) trace(A), and no eigenvalue of K is below -s - g / (1-g) trace(A) (Rump, "Verification
// of positive definiteness", BIT 46, 2006). Scaling by a power of two keeps all of it far from overflow, and what is
// lost to underflow is below 2^-900.
//
// # Rounding of the matrix
//
// The values are those of another matrix, rounded to float32. Each is off by at most half a unit in the last place, so
// no eigenvalue of the two differs by more than Rounding, a bound on the norm of u' |K| with u' = 2^-24 (Weyl's
// inequality). A matrix is refuted where its least eigenvalue is below -Rounding for certain: then no matrix that
// rounds to it is positive semidefinite.
package semidefinite
