// Package vocabulary finds the dictionary of a text data set, exactly, by counting,
// and writes documents in its coordinates.
//
// A document's bag of words is the vector x of Smola and Vishwanathan, "Introduction
// to Machine Learning" (2008), section 1.3.1 and figure 1.15: x^j is how often term j
// occurs in it.
package vocabulary
