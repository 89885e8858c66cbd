// Package dual is the mathematics of linear machines that are trained by their duals, and proves how good they are.
//
// A machine has weights w and, for each training record (x, y) with y +1 or -1, a coefficient alpha. With c the cost of
// a record, C times its weights, the primal and the dual objectives are
//
//	P(w)     = |w|^2/2 + sum of c loss(y <w, x>)
//	D(alpha) = sum of (alpha - q alpha^2/2) - |W(alpha)|^2/2,  W(alpha) = sum of alpha y x,  l <= alpha <= u
//
//	hinge          loss(m) = max(0, 1-m)     l = 0           u = c          q = 0
//	squared hinge  loss(m) = max(0, 1-m)^2   l = 0           u = infinity   q = 1/(2c)
//	squared        loss(m) = (1-m)^2         l = -infinity   u = infinity   q = 1/(2c)
//
// (Hsieh, Chang, Lin, Keerthi and Sundararajan, "A dual coordinate descent method for large-scale linear SVM", ICML
// 2008, (1) to (4).) The bias is the weight of a column that is the same number in each row, so it is penalized.
//
// # Two ways
//
// Over blocks of records, each begins from the same w and ascends by itself, one coefficient after another
// (Loss.Ascend; Algorithm 1 there), as if all others moved w as it does. What the blocks propose together is a
// direction, along which the dual is a concave quadratic: Course finds the best step in closed form and cuts it to the
// bounds of every coefficient. So the dual never falls, for any number of blocks (Lee and Roth, "Distributed
// box-constrained quadratic optimization for dual linear SVM", ICML 2015).
//
// Where a matrix of columns by columns fits into memory, Descent is far faster: Newton's method on w, with each
// coefficient held near its center.
//
// # Certificate
//
// D(alpha) <= P(w') for all alpha within their bounds and all w', so the gap between them bounds how far w is from the
// best. Certify bounds the rounding of both, so that Certificate.GapUpper is a theorem about the records as they were
// read and about the coefficients and weights as they are stored. What it stands on:
//
//   - a sum of n terms, or a product of n pairs, is off by at most gamma(n) times the sum of the magnitudes (Higham,
//     Accuracy and Stability of Numerical Algorithms, 2002, section 3.1);
//   - the losses are Lipschitz, or have a bounded slope, so that an error of a margin is one of the loss;
//   - the weights of the dual are not W(alpha), but no further from it than a drift: that of one sum (Standing.Drift),
//     or of running sums, which Course.Drift adds up round by round.
package dual
