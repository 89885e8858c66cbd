// Package sampling draws records without replacement, each with a chance in proportion to
// its weight, so that the draw depends on the records alone: not on shards, blocks, workers or
// the order in which records are met.
//
// Each record runs an exponential race (Efraimidis and Spirakis, "Weighted random sampling
// with a reservoir", Information Processing Letters 97(5), 2006, algorithm A in its exponential
// form): its time is
//
//	t = -log(u) / weight,  u in (0, 1] from philox by the record's identity,
//
// and the m records with the least times are the sample, in the order in which they would be
// drawn one at a time. Ties go by identity. The least m of two parts are among the
// least m of each, so samples of leaves merge in any way.
package sampling
