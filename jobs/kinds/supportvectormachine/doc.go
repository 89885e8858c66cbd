// Package supportvectormachine is the kind SupportVectorMachine: support vector machines with a kernel and a soft
// margin (Cortes and Vapnik, "Support-vector networks", Machine Learning 20, 1995). Package smo has the mathematics:
// the dual over a working set, the choice of working sets, and the certificate.
//
// There is a machine for each two classes, over the records of the two. The second class in byte order has the side +1.
// The decision of a machine is f(x) + b, with f(x) = sum of alpha_i y_i k(x_i, x) and a bias b that is not penalized.
// Each machine votes for one of its classes; the sum of the decisions breaks ties.
//
// With params.mode regress one machine predicts numbers (Drucker and others, "Support vector regression machines",
// NIPS 9, 1996). Each record is in it twice: as one of side +1 that pulls f + b up to its number minus params.epsilon,
// and as one of side -1 that pulls it down to its number plus params.epsilon. The model has the difference of both
// coefficients, beta.
//
// With params.mode one_class there is one machine of records without classes (Schoelkopf, Platt, Shawe-Taylor, Smola
// and Williamson, "Estimating the support of a high-dimensional distribution", Neural Computation 13, 2001). The
// coefficient of a record is at most its weight, all coefficients add up to nu times the sum of the weights, and
// f - rho is above 0 where records are like those of training; rho is -b. All records are of side +1, with targets of
// 0. Their coefficients must have that sum from the start. So two stages come first, and then a stage prove, which
// computes the f that training begins with.
//
//	weigh    adds up the costs by block, exactly
//	start    takes the first records by ordinal with their costs as coefficients, the last one in part, as support
//	         vectors to begin with (as LIBSVM does: Chang and Lin, ACM TIST 2, 2011, section 4.1)
//
// # Rounds
//
// The records are in at most params.blocks logical blocks of one size, each the leaf of a round. Each training
// record has a coefficient alpha and a value of f in each machine of its class: the leaf's carry. A round of phase
// train has a stage, which is part of its state. The stages of every job:
//
//	train    a leaf adds what the last working sets changed to f, in float32 kernel values and float64 sums, and finds
//	         the most violating records of its block; the step solves the dual of the next working sets
//	fetch    gathers the rows of the next working sets, before the step solves them
//	collect  gathers the records whose alpha is not 0: the support vectors
//	prove    computes f of each record anew, in float64 kernel values, and the sums for the certificates and for the
//	         bounds on the margins
//	close    after the training, if it is asked for: writes the support vectors, and draws the records of a picture
//
// A machine trains until its violation is at most params.tol. When all have reached that, the support vectors are
// collected, and violation and objectives are taken from f of stage prove. A machine whose violation is then above
// params.tol trains on from this f, so that a tol far below the errors of float32 values can be reached (iterative
// refinement). If a pass did not halve the greatest violation, as with a linear kernel far from zero, training goes on
// with float64 values. If those do not halve it either, training ends, and the model says so.
//
// Until the first pass of stage prove, a record is left out of the next rounds after three in turn in which its
// coefficients were at a bound and its values beyond the extremes of their machines (shrinking; leftout.go has the rule
// and its exceptions). Stage prove computes the decisions on all records, and from then on no record is left out, so
// certificates are about all of them.
//
// Half of a working set are the members that joined the last one most recently. The others are the most violating
// records, a quarter of the set from each side. A record has its row once in a state or a partial, however many
// machines it is in. Rows go with the candidates if all of them are at most 2^19 values. Otherwise candidates are
// numbers alone, and a round of stage fetch gathers the rows that the state does not have yet. Machines take turns if
// the rows of their working sets are more than 2^23 values, or their members more than 2^17. The step solves several
// working sets at a time.
//
// # Clusters
//
// With params.clusters, training begins as DC-SVM does (Hsieh, Si and Dhillon, "A divide-and-conquer solver for kernel
// support vector machines", ICML 2014). A round of stage divide draws a sample, whose centers divide the records
// (package centers). In the local phase there is a machine for each two classes and cluster, and a change of a
// coefficient concerns the records of its cluster alone. A machine is done at a violation of 10 times params.tol. Then
// stage join computes f of each record from all support vectors, and training goes on with the machines of all records.
// Their sums of alpha y are 0, since those of each cluster are.
//
// With params.early the machines of the clusters train to params.tol, and are the model. It keeps the centers, and the
// machines of its cluster decide a record. If a cluster has no record of one of a machine's two classes, the machine
// decides for the other. What is proved is about the problem of each cluster.
//
// # Numerics
//
// The working sets follow from a total order of all records, by violation and ordinal. f of a record follows from
// its row and the working sets. Sums over records are exact (package sums). So the model does not depend on blocks,
// files, shards or kernel sets.
//
// The certificate of package smo is a theorem about the exact kernel, with errors of exp and tanh that are assumed
// (4 units in the last place, see package kernels). A sigmoid kernel, and a polynomial one whose scale or offset is
// negative, may not be positive semidefinite: then the dual bounds nothing, and the model says so.
//
// # Probabilities
//
// With params.probability each record is in one of five folds, drawn by its identity. First the machines are trained
// five times, each time without a fold: its records cost nothing, and the decisions on them are kept as carry (stage
// hold). Rounds of stage calibrate then fit a sigmoid to the decisions of each machine, by exact sums (package
// calibration). The machines of all records are trained last, and are those of a job without probabilities.
//
// # Phases
//
//	features  width, labels, scaling, hashing; see package features
//	train     as above
//	threshold in mode one_class: the novelty that few normal records exceed, see evaluation.Detection
//	evaluate  on the test records, if there are any
//
// With params.reject_below the model has a threshold of the confidence of its decisions, and rejects the records below
// it (evaluation.Rejection).
package supportvectormachine
