// Package evaluation judges a classifier on records kept out of training: the
// confusion matrix with a column for rejected records, and the figures derived from it.
//
// The definitions are those of scikit-learn's precision_recall_fscore_support with its
// defaults: the labels are those met as truth or as prediction, and a ratio
// whose denominator is 0 counts as 0. "Rejected" is no label.
package evaluation
