// Package shuffle puts the records of a logical block into an order drawn by a key and their ordinals, as learners that
// go through them one by one want it.
//
// A record's place is given by the number that philox draws for its ordinal in the data set, so the order is the same
// wherever and however the records are read. A block that is larger than a window is shuffled in windows, one after
// the other: a record has a size in numbers, and a window takes records until it holds
// Numbers of them.
//
// A Window keeps what it is given, and no copies: who gives it memory that does not last copies that into a
// Store first.
package shuffle
