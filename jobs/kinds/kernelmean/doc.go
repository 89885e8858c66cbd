// Package kernelmean classifies by the mean kernel value of a query with the training records of
// each class: the kinds KernelNearestMean and KernelDensityBayes.
//
// # Nearest mean in feature space
//
// Smola and Vishwanathan, "Introduction to Machine Learning", section 1.3.3: the means of the classes lie in
// the feature space of a kernel k (package kernels), and the closest wins. With two classes that is (1.24),
//
//	f(x) = sum over i of alpha_i k(x_i, x) + b,  alpha_i = y_i / m_{y_i},
//
// and with any number of them the least of
//
//	|phi(x) - mu_y|^2 = k(x, x) - 2/m_y sum over i of k(x_i, x) + 1/m_y^2 sum over i, j of k(x_i, x_j),
//
// the sums over the records of class y. Equal ones go to the label that is first in byte order. The values of the
// kernel are those of package kernels (float32), the sum over i float64 in the order of the records, the sum over j
// exact (package sums); with the linear
// kernel the rule is that of package nearestmean but for rounding, of some width times 2^-24 |x|^2. A kernel that is
// not positive semidefinite (sigmoid) has squares below 0; they decide as they are, and count 0 as distances.
//
// # Bayes by kernel densities
//
// If k integrates to 1 the mean is the kernel density estimate of Parzen (Annals of Mathematical Statistics 33(3),
// 1962) and, with the priors of the classes, decides by Bayes's rule. Here k is the normal density of bandwidth h:
//
//	p(x | y) = 1/m_y sum over i of (2 pi h_y^2)^(-d/2) exp(-|x - x_i|^2 / (2 h_y^2))
//
// The bandwidth is a parameter, one for all classes, or follows for each class from a rule of thumb, m_y its records,
// d the width and s_y^2 the mean over the columns of their variances in the class:
//
//	scott      h_y = s_y m_y^(-1/(d+4))                  Scott, "Multivariate Density Estimation" (1992), section 6.3
//	silverman  h_y = s_y (4 / ((d+2) m_y))^(1/(d+4))     Silverman, "Density Estimation" (1986), section 4.3.2
//
// With features.missing: omit, a query's density is over the columns that it has, d of them: the normal density is a
// product over the columns, so that a density of some is that without the factors of the others. The sum, and m_y in
// it, is over the training records that have all of these columns, of which each class has one; priors are over all.
// s_y^2 is then over the numbers that a column has.
//
// Everything is float64 and in logarithms, so that a query far from all records has posteriors too. A term that is
// less than e^-37 = 2^-53 of the greatest of its class is left out. Distances are measured in float32 first; only
// records whose term could count, by the error bound of kernelops.Set.SqDists, are measured in float64: by differences
// where they are few; where they are more than an eighth of a class, by |x|^2 + |y|^2 - 2 <x, y>, which takes less
// time, unless that could move the logarithm of a term by more than 1e-10, as for data far from 0.
//
// # Phases, memory, time
//
//	features   width, labels and scaling, see package features
//	base       gathers the training records into the model, class after class
//	norms      the squares |mu_y|^2, of KernelNearestMean: each leaf takes its share of the rows
//	evaluate   the decisions on the records that spec.input.split holds out, or on spec.queries
//
// The model holds every training record, dense or as compressed rows, 4 bytes a value; beyond run.max_state_bytes that
// is a STATE_TOO_BIG fault. A prediction costs a kernel value for each of them, "norms" one for each two of a class.
// Sparse rows are spread out a tile at a time, and have a width of up to 4,194,304. Weights of records count as
// repetitions.
//
// # Without the base in the model
//
// With store_base false the phase "predict" takes the place of "evaluate": the job decides what it would judge on,
// spec.queries or the records that the split holds out, writes predictions/ as the kind Predict would with the model,
// to the byte, and then leaves the base out of the model, which says what the classes are and predicts nothing.
// store_base is a parameter of the spec and not a consequence of the size, because the model is named by the spec.
//
// KernelNearestMean with params.reject_below rejects a record whose least distance is less than that below the next one
// (evaluation.Rejection); KernelDensityBayes goes by the posterior of the decision.
package kernelmean
