// Package evaluation judges a model on records kept out of training: the
// confusion matrix with a column for rejected records, and the figures derived from it.
//
// The definitions are those of scikit-learn's precision_recall_fscore_support with its
// defaults: the labels are those met as truth or as prediction, and a ratio
// whose denominator is 0 counts as 0. "Rejected" is no label. Models that predict values are
// judged by their errors.
//
// Scores of classes are judged where spec.evaluation asks for it (type Scoring): probabilities, margins or distances,
// as jobs.Answers.Scale says. Of two classes, the probability of the positive one is ranked or how far its score is
// ahead of the other's; of more, each class against the others. All figures are exact sums over records, or come from
// rankings that keep every different score (type Ranking, in parts; type Ranks goes on where memory ends). The
// confidence of decisions is ranked likewise, for the risk of rejecting below a threshold (El-Yaniv and Wiener, "On the
// foundations of noise-free selective classification", JMLR 11, 2010).
//
// Detectors of novel records are judged by their ranking of test records (type Ranking): AUC, the precision at the top,
// and the false alarms of a threshold that normal records set which were not trained on.
//
// Decisions can be made, and judged, under a cost matrix, for the cost of an error may heavily depend on its
// type (Smola and Vishwanathan, "Introduction to Machine Learning", 2008, section 1.1.3, multiclass
// classification).
package evaluation
