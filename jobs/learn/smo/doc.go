// Package smo is the mathematics of support vector machines with a kernel: it solves the dual over a working set,
// chooses working sets, and proves how good a machine is. It knows no records and no files.
//
// # Problem
//
// With K_ij = k(x_i, x_j), labels y of +1 and -1, and Q_ij = y_i y_j K_ij, the dual is
//
//	minimize  a'Qa/2 + p'a   where   0 <= a_i <= c_i   and   y'a stays as it is
//
// A classifier has p = -1 and y'a = 0 (C-SVC), a one-class machine p = 0, and regression two variables for each record
// (Chang and Lin, "LIBSVM: a library for support vector machines", ACM TIST 2, 2011, section 2). The gradient is
// G = Qa + p.
//
// # Violation
//
// Each variable has a value v = -y G. It is in I_up if y a may grow, and in I_low if y a may fall. With m the greatest
// value over I_up and M the least over I_low, a is optimal if and only if m <= M (Keerthi and others, "Improvements to
// Platt's SMO algorithm for SVM classifier design", Neural Computation 13, 2001), and m - M is its violation. Extremes
// keeps both. Candidates keeps the most violating variables of each side, from which a working set is taken; all other
// variables are constants of the problem that Working solves.
//
// # Certificate
//
// For a classifier, let f_i = sum of a_j y_j K_ij and let w be the vector that a stands for in the space of the kernel,
// so that |w|^2 = a'Qa = sum of a_i y_i f_i. At a bias b, the primal objective is
//
//	P(w, b) = |w|^2/2 + sum of c_i max(0, 1 - y_i (f_i + b))
//
// and P(w', b') >= D(a') = sum of a' - |w(a')|^2/2 for all w' and b', and all a' of the box with y'a' = 0. Rounding
// leaves a stored a with y'a = e, not 0. Let S be the larger of the two classes' sums of a, so that the smaller is
// S - |e|. With t = (S - |e|)/S <= 1, multiply the coefficients of the larger class by t. The result a' stays in the
// box, and y'a' = 0. Its sum is smaller by |e|, and w(a') = w - d with
//
//	|d| = (1 - t) |sum of a_i y_i phi(x_i) over that class| <= (1 - t) S kappa = |e| kappa,   kappa^2 = max K_ii
//
// Hence D(a') >= sum of a - |e| - (|w| + |e| kappa)^2/2, and the least primal objective of all is at least that.
//
// Of regression, with beta = a+ - a- of each record and its target z (Smola and Schoelkopf, "A tutorial on support
// vector regression", Statistics and Computing 14, 2004, (10)),
//
//	P(w, b) = |w|^2/2 + sum of c_i max(0, |z_i - f_i - b| - epsilon)
//	D(beta) = sum of (z_i beta_i - epsilon |beta_i|) - |w|^2/2,   |beta_i| <= c_i,   sum of beta = 0
//
// and the larger of the sums of positive and of negative betas is scaled down alike: then the linear part changes by at
// most |e| (max |z| + epsilon).
//
// CertifyOneClass has the objectives of a one-class machine, and what becomes of coefficients with another sum.
//
// Certify adds what rounding may hide. With |f_i - computed f_i| <= e_i, the square |w|^2 is off by at most the sum of
// a_i e_i. The hinge has a slope of at most 1, so the loss is off by at most the sum of c_i e_i over the records whose
// loss is not surely 0. A rounded sum of n terms is off by at most gamma(n) times the sum of their magnitudes (Higham,
// Accuracy and Stability of Numerical Algorithms, 2002, section 3.1). So Certificate.GapUpper is a theorem for each
// positive semidefinite kernel. It is none for the sigmoid kernel, where D bounds nothing.
package smo
