// Package lsh is locality-sensitive hashing: functions that near rows share values of more often than far ones (Indyk
// and Motwani, STOC 1998; Gionis, Indyk and Motwani, "Similarity search in high dimensions via hashing", VLDB 1999).
//
// A table has a key of k functions; two rows collide in it if all k agree. Where one function gives two rows at the
// distance d one value with probability p(d), they collide in at least one of L tables with
//
//	1 - (1 - p(d)^k)^L,
//
// the S-curve (section 3 of the paper), which is Curve. The families:
//
//	Bits         one column of rows of 0 and 1: p = 1 - d/columns (section 3.1 of the paper)
//	Normal       floor((r.x + b) / w), r of independent normal numbers, b uniform in [0, w): of the Euclidean distance
//	             (Datar, Immorlica, Indyk and Mirrokni, "Locality-sensitive hashing scheme based on p-stable
//	             distributions", SCG 2004, section 3.2)
//	Cauchy       the same with Cauchy's distribution, of the sum of |x-y|
//	Hyperplanes  whether r.x is at least 0, r normal: p = 1 - angle/pi (Charikar, "Similarity estimation techniques
//	             from rounding algorithms", STOC 2002, section 3)
//
// # Bits
//
// Values of functions are the same under every kernel set and however rows are cut. r is float32, a function of the
// seed, the number of the function and the column (philox); r.x is the chain c = math.FMA(x[j], r[j], c) over ascending
// columns j, from 0, in float64, as kernelops.Mixed.Products promises; sparse rows leave out the columns in which they
// are 0, which changes no bit. (r.x + b) / w is rounded after each operation, and cut to ±2^62.
package lsh
