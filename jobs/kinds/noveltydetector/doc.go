// Package noveltydetector tells how unlike the training records a record is: the kind NoveltyDetector, for the problem
// of Smola and Vishwanathan, "Introduction to Machine Learning" (2008), section 1.1.3, novelty detection. Package
// supportvectormachine has a third detector, mode one_class; all are judged by package evaluation.
//
// # Detectors
//
//	knn             the distance from the k-th nearest training record: the higher, the more novel (Ramaswamy, Rastogi
//	                and Shim, "Efficient algorithms for mining outliers from large data sets", SIGMOD 2000)
//	kernel_density  the logarithm of the density estimate of Parzen: the lower, the more novel
//
// With bandwidth h, width d, weights w and their sum W that density is
//
//	p(x) = 1/W sum over i of w_i (2 pi h^2)^(-d/2) exp(-|x - x_i|^2 / (2 h^2))
//
// h is a parameter, or follows from a rule of thumb, with s^2 the mean over the columns of their weighted variances:
//
//	scott      h = s W^(-1/(d+4))                 Scott, "Multivariate Density Estimation" (1992), section 6.3
//	silverman  h = s (4 / ((d+2) W))^(1/(d+4))    Silverman, "Density Estimation" (1986), section 4.3.2
//
// # Numerics
//
// Distances are float64: those of kernelops.Set.Search, the same for any kernel set, and of rows.SquaredDistance.
// Densities are sums in the order of the records, in logarithms, so that records far from all others differ, too.
//
// # Phases, memory, time
//
//	features   width and scaling, see package features
//	base       gathers the training records into the model, in their order
//	threshold  the novelty that few normal records exceed, see evaluation.Detection
//	evaluate   on the test records, where there are some
//
// The model holds every training record, dense or as compressed rows, 4 bytes a value; beyond run.max_state_bytes that
// is a STATE_TOO_BIG fault. A prediction costs the distances from all of them.
package noveltydetector
