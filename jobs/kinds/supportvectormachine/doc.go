// Package supportvectormachine is the support vector machine with a kernel as a job: the kind SupportVectorMachine,
// a classifier with soft margin (Cortes and Vapnik, "Support-vector networks", Machine Learning 20, 1995). Package
// smo has its mathematics: the dual over a working set, the choice of working sets, and the certificate.
//
// There is a machine for each two classes, of which the second in byte order is the side +1, over the records of the
// two. It has the decision f(x) + b, with f(x) = sum of alpha_i y_i k(x_i, x) and a bias b that is not penalized.
// Each machine votes for one of its classes, and of equal votes the sum of the decisions decides.
//
// With params.mode regress there is one machine of numbers (Drucker and others, "Support vector regression machines",
// NIPS 9, 1996): each record is in it twice, as one of side +1 that pulls f + b up to its number less params.epsilon,
// and as one of side -1 that pulls it down to its number and params.epsilon. Its support vectors have the difference of
// both coefficients, beta.
//
// With params.mode one_class there is one machine of records without classes (Schoelkopf, Platt, Shawe-Taylor, Smola
// and Williamson, "Estimating the support of a high-dimensional distribution", Neural Computation 13, 2001). The
// coefficient of a record is at most its weight, all coefficients add up to nu times the sum of the weights, and
// f - rho is above 0 where records are like those of training; rho is -b. All records are of side +1, with targets of
// 0. Their coefficients need that sum from the start, so two stages come before training, and a stage prove that begins
// it.
//
//	weigh    adds up the costs by block, exactly
//	start    takes the first records by ordinal with their costs as coefficients, the last one in part, as support
//	         vectors to begin with (as LIBSVM does: Chang and Lin, ACM TIST 2, 2011, section 4.1)
//
// # Rounds
//
// The records lie in at most params.blocks logical blocks of one size, each the leaf of a round. Each training
// record has a coefficient alpha and a value of f in each machine of its class: the leaf's carry. A round of phase
// train does one of four things, the stage of its state.
//
//	train    a leaf adds what the last working sets changed to f, in float32 kernel values and float64 sums, and finds
//	         the most violating records of its block; the step solves the dual of the next working sets
//	fetch    gathers the rows of the next working sets, before the step solves them
//	collect  gathers the records whose alpha is not 0: the support vectors
//	prove    computes f of each record anew, in float64 kernel values, and what the certificates and the bounds on the
//	         margins add up
//	close    after the training: writes the support vectors, and draws the records of a picture; where it is asked for
//
// A machine trains until its violation is at most params.tol. When all do, the support vectors are collected, and
// violation and objectives are taken from f of stage prove. A machine whose violation is above params.tol then
// trains on, from f as it is now, so that a tol far below the errors of float32 values can be reached (iterative
// refinement). Where a pass did not halve the greatest violation, as with a linear kernel far from zero, training
// goes on with float64 values; where those do not halve it either, training ends, and the model says so.
//
// Until the first pass of stage prove a record is left out of rounds after three in turn in which its coefficients were
// at a bound and its values beyond the extremes of their machines (shrinking; see leftout.go). Stage prove computes the
// decisions on all records, and from then on no record is left out, so certificates are about all of them.
//
// A working set keeps those of its members that came last, for half of it, and takes a quarter of each side of the most
// violating. A record has its row once in a state or a partial, however many machines it is in. Rows go with the
// candidates where all of them are at most 2^19 values; else candidates are numbers alone, and the rows that the state
// does not have yet come in a round of stage fetch. Machines take turns where the rows of their working sets are more
// than 2^23 values, or their members more than 2^17. The step solves several working sets at a time.
//
// # Clusters
//
// With params.clusters, training begins as DC-SVM does (Hsieh, Si and Dhillon, "A divide-and-conquer solver for kernel
// support vector machines", ICML 2014). A round of stage divide draws a sample, whose centers divide the records
// (package centers). In the local phase there is a machine for each two classes and cluster, and a change of a
// coefficient concerns the records of its cluster alone. Its violation may be 10 times params.tol. Then stage join
// computes f of each record from all support vectors, and training goes on with the machines of all records. Their
// sums of alpha y are 0, as those of each cluster are.
//
// With params.early the local phase is the training. The model keeps the centers, and a record is decided by the
// machines of its cluster. A machine one of whose classes has no record in the cluster decides for the other. What is
// proved is about the problem of each cluster.
//
// # Numerics
//
// The working sets follow from a total order of all records, by violation and ordinal. f of a record follows from
// its row and the working sets. Sums over records are exact (package sums). So the model depends neither on blocks,
// nor on files, shards or kernel sets.
//
// The certificate of package smo is a theorem about the exact kernel, with errors of exp and tanh that are assumed
// (4 units in the last place, see package kernels). A sigmoid kernel, and a polynomial one whose scale or offset is
// negative, may not be positive semidefinite: then the dual bounds nothing, and the model says so.
//
// # Probabilities
//
// With params.probability each record falls into one of five folds, by chance of its identity. First the machines are
// trained without a fold, in turn: its records cost nothing, and their decisions are kept as carry at the end (stage
// hold). Rounds of stage calibrate then fit a sigmoid to the decisions of each machine, by exact sums (package
// calibration). The machines of all records are trained last, and are those of a job without probabilities.
//
// # Phases
//
//	features  width, labels, scaling, hashing; see package features
//	train     as above
//	threshold of one class: the novelty that few normal records exceed, see evaluation.Detection
//	evaluate  on the test records, where there are some
package supportvectormachine
