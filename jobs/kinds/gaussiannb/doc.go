// Package gaussiannb trains and applies Gaussian naive Bayes on dense vectors: the classifier
//
//	y*(x) = argmax over y of p(y) * product over j of p(x_j|y)
//
// of Smola and Vishwanathan, "Introduction to Machine Learning" (2008), section 1.3.1, with a normal
// density for each column of each class instead of counts,
//
//	p(x_j|y) = exp(-(x_j - m_yj)^2 / (2 v_yj)) / sqrt(2 pi v_yj).
//
// Phase "features" finds the labels and the scaling; then phase "moments" finds the means m and the variances v of
// each class. With weights of records w and their sum W_y,
//
//	m_y = sum(w x) / W_y,  v_y = sum(w (x - m_y)^2) / W_y + var_smoothing * V,
//
// where V is the largest population variance of any column over all training records. The default of var_smoothing is
// 1e-9, as in scikit-learn's GaussianNB. Means and variances come from exact sums (package sums) and are rounded once.
//
// With features.missing: omit, a missing number is left out: m, v and W are over the numbers that a column has in a
// class, and the product is over the columns that the record has.
//
// A model that grows keeps the exact sums, so that a job which adds records to it (spec.model) gives, to the bit, the
// model of all records in one job; see growth.
//
// Prediction adds logarithms in float64, columns in order, so wide records do not underflow. Ties go to the class
// whose label comes first in byte order.
package gaussiannb
