// Package naivebayes trains and applies naive Bayes on text: the multinomial form of Algorithm 1 of
// Smola and Vishwanathan, "Introduction to Machine Learning" (2008), section 1.3.1,
// extended to any number of classes as in its problem 1.12,
//
//	y*(x) = argmax over y of p(y) * product over j of p(w^j|y)^(x^j),
//
// where x^j is how often term j of the dictionary occurs in document x.
//
// Two more forms of the model, Bernoulli's and the complement, stand at their constants in form.go.
//
// Training counts: phase "vocabulary" finds the dictionary, phase "counts" the
// occurrences of each term in each class. With n terms, w_y occurrences in class y, c_jy of
// term j among them, and smoothing alpha (1 is Laplace's, any other positive value Lidstone's),
//
//	p(w^j|y) = (c_jy + alpha) / (w_y + alpha n).
//
// alpha must be positive: at 0 one word unseen in a class would exclude the class, and a document
// could exclude them all. The model holds the integers; logarithms are
// taken when it is loaded. Documents are scored by sums of logarithms, so no length
// underflows. Words outside the dictionary are passed over: they say nothing about the
// class. A document without any known word gets the prior.
//
// Sparse vectors stand for documents whose words were counted elsewhere: column j, numbered from 0 in
// decimal, is a term and its value x^j, a whole number. Columns that no training record fills are no terms.
//
// With features.missing: omit, dense vectors of counts stand for documents, and a count may be missing; see omit.go.
//
// A job whose spec.model is a model that grows adds its records to it; see modelGrowth.
//
// Ties go to the class whose label comes first in byte order.
package naivebayes
