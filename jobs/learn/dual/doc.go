// Package dual is the mathematics of linear machines that are trained by their duals, and proves how good they are.
//
// A machine has weights w and, for each training record x, a coefficient alpha. Of classes, y is +1 or -1 and the
// target t of y <w, x> is 1; of numbers, y is 1 and t the label. With c the cost of a record, C times its weights, the
// primal and the dual objectives are, with s = t - y <w, x> by how much a record is short of its target,
//
//	P(w)     = |w|^2/2 + sum of c loss(s)
//	D(alpha) = sum of (t alpha - e |alpha| - q alpha^2/2) - |W(alpha)|^2/2,  W(alpha) = sum of alpha y x
//
//	hinge                        max(0, s)           0 <= alpha <= c    q = 0         e = 0
//	squared hinge                max(0, s)^2         0 <= alpha         q = 1/(2c)    e = 0
//	squared                      s^2                                    q = 1/(2c)    e = 0
//	epsilon-insensitive          max(0, |s|-e)       |alpha| <= c       q = 0
//	squared epsilon-insensitive  max(0, |s|-e)^2                        q = 1/(2c)
//
// The logistic loss is log(1 + exp(s)) with t = 0, 0 <= alpha <= c, and in place of t alpha the entropy
// -alpha log(alpha/c) - (c-alpha) log((c-alpha)/c). Along a course it is the best
// of a few steps, for its dual is no quadratic there.
//
// (Hsieh, Chang, Lin, Keerthi and Sundararajan, "A dual coordinate descent method for large-scale linear SVM", ICML
// 2008, (1) to (4); of numbers, Ho and Lin, "Large-scale linear support vector regression", JMLR 13, 2012, (5) and
// (15).) The bias is the weight of a column that is the same number in each row, so it is penalized.
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
//   - the losses are Lipschitz, or have a bounded slope, so that an error of a margin is one of the loss; s itself is
//     rounded, which a tube turns into an error of up to e times a unit;
//   - exp and log are within 4 ulp, of the logistic loss alone: this was measured and is not proved, so its gap is
//     assumed (Form.Assumed);
//   - the weights of the dual are not W(alpha), but no further from it than a drift: that of one sum (Standing.Drift),
//     or of running sums, which Course.Drift adds up round by round.
package dual
