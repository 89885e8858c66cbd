// Package features turns records into vectors, for every algorithm that works on vectors.
//
// Phase "features" reads the training records once and finds what all later reading needs: the
// width, the labels, the scaling of each column and, for texts, the dictionary. Its result is a
// Space, which every later state and the model carry; a Reader reads blocks into it, in
// training and in prediction alike:
//
//	dense records   ->  rows of a kernelops.Matrix
//	sparse records  ->  compressed rows
//	texts           ->  compressed rows of term counts (package vocabulary)
//	texts, hashing  ->  compressed rows of sums by hashed column
//
// A scaled value is float32((float64(x) - shift) * factor), every step in float64 and rounded
// once at the end, with
//
//	none      shift 0, factor 1
//	standard  shift mean, factor 1 / sqrt(variance), the variance being that of the population (m2 / n);
//	          sparse rows keep their zeros: they are scaled, with shift 0
//	minmax    shift min, factor 1 / (max - min), so that training values lie in [0, 1]; dense only
//	maxabs    shift 0, factor 1 / max |x|, so that training values lie in [-1, 1] and zeros stay
//	robust    shift median, factor 1 / (third quartile - first), in four passes more; dense only (package ranks)
//	l2        each row by itself: x / |x|, the norm in float64; a row of zeros stays as it is
//
// A Mapping first gives dense vectors products of their columns as further columns.
// With TFIDF the entries of texts and of sparse vectors are weighed by how rare their columns are, before scale l2.
//
// The factor of a constant column is 1. Weights of records do not enter the scaling.
//
// Means and variances come from exact sums of the values and of their squares (package sums) and are rounded once, so
// neither order nor shards change them. Counts are integers.
package features
