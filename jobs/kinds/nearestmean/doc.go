// Package nearestmean classifies by the closest class mean: the kind NearestMean.
//
// The means are those of Smola and Vishwanathan, "Introduction to Machine Learning",
// section 1.3.3: mu_y is the mean of the vectors of class y. A query goes to the
// class whose mean is closest; with two classes that is the linear rule (1.22) with
//
//	w = 2 (mu_+ - mu_-),  b = |mu_-|^2 - |mu_+|^2,  x in class + iff <w, x> + b > 0.
//
// (The text writes f in (1.21) with the other sign: there, f < 0 is class +.) Any number of classes
// works alike; equal distances go to the label that is first in byte order.
//
// The phases are
//
//	features   width, labels and scaling, see package features
//	means      sum of the vectors and number of records of each class
//	evaluate   the decisions on the records that spec.input.split holds out, or on spec.queries
//
// With params.pairs the last phase also judges each pair of classes: the linear rule of the two means decides
// the test records of the two classes. One pass over the records suffices, because the distances to all means
// determine the decision of every rule. The file pairs.csv beside the model has the results.
//
// With params.reject_below the model has a threshold of the confidence of its decisions, and rejects the records below
// it (evaluation.Rejection).
package nearestmean
