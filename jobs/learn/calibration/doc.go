// Package calibration makes probabilities of decisions: of one machine by a sigmoid (Platt, "Probabilistic outputs for
// support vector machines", Advances in Large Margin Classifiers, 1999), and of machines for each two classes by
// coupling theirs.
package calibration
