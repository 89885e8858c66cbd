// Package evaluation judges a model on records kept out of training: the
// confusion matrix with a column for rejected records, and the figures derived from it.
//
// The definitions are those of scikit-learn's precision_recall_fscore_support with its
// defaults: the labels are those met as truth or as prediction, and a ratio
// whose denominator is 0 counts as 0. "Rejected" is no label. Models that predict values are
// judged by their errors.
//
// Detectors of novel records are judged by their ranking of test records (type Ranking): AUC, the precision at the top,
// and the false alarms of a threshold that normal records set which were not trained on.
//
// Decisions can be made, and judged, under a cost matrix, for the cost of an error may heavily depend on its
// type (Smola and Vishwanathan, "Introduction to Machine Learning", 2008, section 1.1.3, multiclass
// classification).
package evaluation
