// Package nearestmean classifies by the closest class mean: the kind NearestMean.
//
// The means are those of Smola and Vishwanathan, "Introduction to Machine Learning",
// section 1.3.3: mu_y is the sum of the vectors of class y over their number. A query goes to the
// class whose mean is closest; with two classes that is the linear rule (1.22) with
//
//	w = 2 (mu_+ - mu_-),  b = |mu_-|^2 - |mu_+|^2,  x in class + iff <w, x> + b > 0.
//
// (The text writes f in (1.21) with the other sign: there, f < 0 is class +.) Any number of classes
// works alike; equal distances go to the label that is first in byte order.
//
//	features   width, labels and scaling, see package features
//	means      sums and numbers of each class
//	evaluate   the decisions on the records that spec.input.split holds out, or on spec.queries
//
// With params.pairs the last phase also judges every two classes by themselves: the linear rule of their
// two means decides the test records of these two. One pass over the records suffices, because the distances to
// all means say what each of the rules decides. The table is the file pairs.csv beside the model.
package nearestmean
