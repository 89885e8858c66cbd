// Package kernelperceptron learns a nonlinear decision function from mistakes: the kind KernelPerceptron.
//
// It is Algorithm 4 (The Kernel Perceptron) of Smola and Vishwanathan, "Introduction to Machine
// Learning", section 1.3.4: for two classes, y = -1 and +1, a record with y f(x) <= 0 is a mistake and
//
//	f <- f + y k(x, .) + y
//
// so that f(x) = sum over i of alpha_i k(x_i, x) + b over the records that were mistaken, the support
// vectors. Without bias (the lecture's algorithm) the last y and b are left out. More classes have
// a function each over one shared set of support vectors: a record whose own class does not score above all others
// is a mistake; its class gains what the best other class loses (Crammer and Singer, "Ultraconservative
// online algorithms for multiclass problems", JMLR 3, 2003, with tau on one class; of equal others the first in
// byte order). A class weight, and the weight of a record, scale the step; a record of weight 0 is passed over.
//
//	plain     f as it is at the end
//	averaged  the mean of f after each record seen (the lecture notes' averaging; the default)
//	voted     every f that there was votes with the number of records that it survived
//	          (Freund and Schapire, "Large margin classification using the perceptron algorithm", 1999)
//
// # Epochs
//
//	features  width, labels and scaling, see package features
//	train     some blocks a round, exactly the serial algorithm; the state, written by each round, holds the
//	          support vectors as dense rows
//	evaluate  decisions on the test records: those of spec.queries, or those that input.split holds out
//
// The while loop of the text ends when no mistake is left; here also after a number of epochs. With shuffle
// (the default) each epoch draws an order of the logical blocks by (seed, epoch), and within a
// block of params.block_records an order of the records by (seed, epoch, ordinal). A block of more than 2^22 numbers is
// shuffled in windows of about that many.
//
// # Budget
//
// With a budget, a new support vector takes the place of an old one when f has as many as that: of the one that
// came first ("oldest"), or the one of least sum of alpha^2 ("smallest", the older where two are equal). What
// it contributed leaves f and b, as by a step of -alpha at the record that is learned.
//
// The budget bounds f, and so the time that a record takes to learn. Form plain keeps no more. The mean and the votes
// are of every f that there was: a vector that left contributes the records it lived, and remains in the state and the
// model (once, however often it came), so that these hold up to all training records. After it left, the vector counts
// as new in f.
//
// # Corrections
//
// A model of form plain or voted goes on learning record by record, as in an epoch that is not shuffled (Online, `gram
// model learn`). One of form averaged does not: it holds the mean of all f, and not the last, which would learn.
//
// # Numerics
//
// Kernel values are those of package kernels, float32, and do not depend on how records are grouped. Support vectors
// are stored as they were read, and the origin of rbf beside them. f is summed in float64 in the order of the support
// vectors' places, each product rounded, and b is added last. The kernel values of a block of records against the
// support vectors at its start, and among its own records, are two matrices.
//
// # Novikoff's theorem
//
// When an epoch made no mistake, its function separates the records, and Theorem 1.7 bounds all mistakes made on
// the way by (1 + R^2) (1 + b^2) / gamma^2, with R^2 the largest k(x, x), gamma the least y f(x) and both it and b
// divided by |w|. For more classes, gamma is the least gap to the best other class, |w|^2 and b^2 are summed over
// classes, and the bound is twice that (Collins, "Discriminative training methods for hidden Markov models", 2002,
// theorem 1: a step joins two classes). The bound is not given where steps were not all 1, or vectors were dropped.
//
// With params.reject_below the model has a threshold of the confidence of its decisions, and rejects the records below
// it (evaluation.Rejection).
package kernelperceptron
