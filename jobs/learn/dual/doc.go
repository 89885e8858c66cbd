// Package dual is the mathematics of linear machines that are trained by their duals, and proves how far they are from
// the best ones.
//
// A machine has weights w and, for each training record x, a coefficient alpha. For classes, y is +1 or -1 and the
// target t of y <w, x> is 1; for numbers, y is 1 and t is the label. Let c be the cost of a record, C times its
// weights, and s = t - y <w, x> by how much it is short of its target. The primal and the dual objectives are
//
//	P(w)     = |w|^2/2 + sum of c loss(s)
//	D(alpha) = sum of (t alpha - e |alpha| - q alpha^2/2) - |W(alpha)|^2/2,  W(alpha) = sum of alpha y x
//
//	hinge                        max(0, s)           0 <= alpha <= c    q = 0         e = 0
//	squared hinge                max(0, s)^2         0 <= alpha         q = 1/(2c)    e = 0
//	squared                      s^2                                    q = 1/(2c)    e = 0
//	epsilon-insensitive          max(0, |s|-e)       |alpha| <= c       q = 0         e = epsilon
//	squared epsilon-insensitive  max(0, |s|-e)^2                        q = 1/(2c)    e = epsilon
//
// The logistic loss is log(1 + exp(s)) with t = 0 and 0 <= alpha <= c. In place of t alpha, its dual has the entropy
// -alpha log(alpha/c) - (c-alpha) log((c-alpha)/c).
//
// (Hsieh, Chang, Lin, Keerthi and Sundararajan, "A dual coordinate descent method for large-scale linear SVM", ICML
// 2008, (1) to (4); for numbers, Ho and Lin, "Large-scale linear support vector regression", JMLR 13, 2012, (5) and
// (15).) The bias is the weight of a column that is the same number in each row, so it is penalized.
//
// # Two solvers
//
// Ascent: each block of records begins from the same w and ascends by itself, one coefficient at a time (Loss.Ascend;
// Algorithm 1 of Hsieh and others), as if all other blocks moved w as it does. The sum of the changes of all blocks is
// a direction, along which the dual is a concave quadratic: Course finds the best step in closed form and cuts it to
// the bounds of every coefficient. With the logistic loss, whose dual is not quadratic, it is the best of a few steps.
// So the dual never falls, for any number of blocks (Lee and Roth, "Distributed box-constrained quadratic optimization
// for dual linear SVM", ICML 2015).
//
// Newton: if a matrix of columns by columns fits into memory, Descent is far faster. It takes Newton's steps on w, with
// each coefficient held near its center.
//
// # Certificate
//
// D(alpha) <= P(w') for all alpha within their bounds and all w', so the gap between them bounds how far w is from the
// best. Certify bounds the rounding of both, so that Certificate.GapUpper is a theorem about the records as they were
// read and about the coefficients and weights as they are stored. It relies on these facts:
//
//   - a sum of n terms, or a product of n pairs, is off by at most gamma(n) times the sum of the magnitudes (Higham,
//     Accuracy and Stability of Numerical Algorithms, 2002, section 3.1);
//   - the losses are Lipschitz, or have a slope that is, so that an error of a margin bounds that of the loss; s itself
//     is rounded, which with an epsilon is a further error of up to e times a unit;
//   - for the logistic loss alone, exp and log are within 4 ulp: this was measured and is not proved, so its gap is
//     assumed (Form.Assumed);
//   - the weights of the dual differ from W(alpha) by at most a drift: that of one sum (Standing.Drift), or of running
//     sums, which Course.Drift adds up round by round.
package dual
