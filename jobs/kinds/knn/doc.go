// Package knn searches nearest neighbors, exactly or by hashing, and classifies and regresses by them:
// Algorithm 2 of Smola and Vishwanathan, "Introduction to Machine Learning" (2008), section 1.3.2,
//
//	Classify(X, Y, x): compute the distance d(x_i, x) for i = 1 to m; let I be the indices of
//	the k smallest; return the majority label of {y_i where i in I}.
//
// and its remark on regression: the average of the y_i instead of their majority.
//
// # Phases
//
// Phase "index" reads the base (spec.input) once: its width, scaling and labels, and how many
// records lie in each shard. Phase "neighbors" is the search. It has one tree for each shard
// of queries and in each tree a leaf for each run of shards of the base, so that neither needs to fit
// into memory: a leaf holds its queries, a chunk of its base and the lists found so far. Map finds
// the neighbors of the queries in one shard of the base, Merge takes the first k of two lists,
// Step reads the finished lists a tree at a time, votes and writes them out. Where it
// decided wrongly about queries with labels, phase "mistakes" looks a few of their records up. Where
// store_base is set, phase "base" gathers the base into the model, for prediction.
//
// Without spec.queries the base is searched for its own records, each without itself
// (leave one out), or for those that spec.input.split holds out, in the others.
//
// # Order
//
// Lists are in the order of (distance, id). Where spec.input names ids, these are the records' own, by length and
// then by bytes, so that a table whose rows are permuted has the same neighbors, votes and values. Else a neighbor's
// id is the number of its record in spec.input, counted from 0 over all records in order, and of duplicates those that
// come first in the input are taken. Either order is total; so the k best of two lists do not depend on how the base
// was cut. A query has min(k, n) neighbors in a base of n.
//
// With ids, a partial holds those of the neighbors in its lists, in order, and a neighbor is its place among them. A
// leaf sorts the ids of each chunk of its base and, for l2 with k, the chunk itself, because the search of kernelops
// takes the lower of two rows at one distance. The stored base is in the order of ids, which are not stored.
//
// # Distances
//
// All are float64, by 8 lanes (lane j takes the columns i with i mod 8 = j, ascending, each
// product rounded) and the tree j+4, j+2, j+1, of float32 features after scaling:
//
//	l2             the root of the sum of (x-y)^2; ordered by the sum
//	inner_product  -(x.y): the largest product is nearest
//	cosine         1 - x.y / (|x| |y|), the quotient cut to [-1, 1], and 1 where a norm is 0
//	l1             the sum of |x-y|
//	linf           the largest |x-y|
//	hamming        the features that differ; all must be 0 or 1
//	edit           Levenshtein: the least number of insertions, deletions and substitutions of Unicode
//	               code points that turn one text into the other; a byte that is not UTF-8 counts as U+FFFD
//	minkowski      m (sum of (|x-y|/m)^p)^(1/p), m the largest |x-y|; 0 where m is 0
//	jaccard        of the sets of features that are not 0: 1 - their intersection / their union, computed as the
//	               elements of one alone / the union, two integers; 0 of two empty sets. Of texts, sets of words
//	haversine      the angle between two places, in radians as in scikit-learn: 2 asin of the root of
//	               sin^2(dlat/2) + cos lat1 cos lat2 sin^2(dlon/2); ordered by that sum
//	precomputed    the value in column j of the query, j the number of the record in spec.input; at least 0
//	similarity     -(that value): the largest is nearest
//
// Minkowski takes powers up to p = 8 that are whole by multiplication, and others by exp(p log), of ratios up to 1, so
// that nothing overflows; the largest relative error met against a definition in math.Pow was below 4e-15, for p from 1
// to 1e6. It is passed over where linf alone is beyond the worst. Haversine takes sine and cosine from
// fmath.Sincospi, and the arc sine from fmath.Asin; distances were within 1e-14 of scikit-learn's. Records have the two
// columns latitude (-pi/2 to pi/2) and longitude (-2 pi to 2 pi), else they are faults, and so are degrees that lie
// beyond.
//
// For l2 kernelops.Base gives them, by k and by radius. For inner_product, cosine and l1, linf a float32 kernel
// filters: a row is passed over only if the kernel's proved error bound puts its float64 distance
// beyond the worst of a full list or the radius; every other is computed in float64. Hence the
// kernel set, the chunks and the order of the scan change the time and not a bit.
//
// # Sparse rows
//
// Sparse rows have the same distances to the bit, in time by their entries. The base is turned into columns, a block of
// 4096 rows at a time; a query goes through the columns that it has and adds up, for each row, what both share: the dot
// product, for l1 |x| + |y| - |x-y|, for linf the largest |x-y|. A row is passed over if that and the norms put its
// distance beyond the worst by the bound of the sums' rounding (filter). Every other is computed in the order that
// Distances gives, along the columns that either row has: all others add 0 to a lane. Rows that share no column with a
// query are not computed at all by cosine, inner_product and linf, which know their distance. Rows so full that tiles
// of dense rows take less time are spread out into these, as are all rows before a projection; hence a width beyond
// 4,194,304 is an INPUT_LIMIT fault. Hamming counts the elements that two rows share, or compares words of bits where
// this takes less.
//
// # Votes
//
// The class with most votes wins, a vote weighing 1 or 1/d; a neighbor at distance 0 leaves no
// vote to others. A tie goes to the label that comes first in byte order (ties: "label", as
// in scikit-learn), or to the class of the nearest neighbor among those tied ("nearest").
// reject_below refuses a winner with a smaller share of the votes; a query without neighbors (by radius) is
// always refused. Votes are added in the order of the list.
//
// # Random projection
//
// projection maps the rows into fewer dimensions before an l2 search (the same section: a matrix of
// normal numbers; the lemma of Johnson and Lindenstrauss). For m points, base and queries, and
// eps it takes the least
//
//	dims >= 4 ln(m) / (eps^2/2 - eps^3/3)
//
// of Dasgupta and Gupta, "An elementary proof of a theorem of Johnson and Lindenstrauss" (2003),
// theorem 2.1. The lists are then exact for the projected points and have their distances. What
// it cost is measured: the ratio of squared distances after and before on sampled pairs, whose records of the base are
// drawn by number even where there are ids, and recall@k against the exact search on sampled queries.
//
// # Hashing
//
// With index lsh a query is compared with the records alone that collide with it in a hash table (package lsh), at the
// distances above. The tables hold the queries of a leaf, in blocks of bounded size, and the records of its base are
// looked up in them; so each is hashed once for every shard of queries. Phases "draw" and "tune" choose the tables for
// a recall, by queries that are drawn and searched exactly. A sampled query's exact list says of each neighbor which
// table finds it (mark), so that the recall has a variance between tables too: see collisions.trials.
//
// # Memory and time
//
// A leaf searches a run of shards of the base for the queries of a shard. What it has found of some rows is a limit for
// the next ones, so that few of these are looked at closely; a leaf over several shards takes far less time than one
// over each. How many shards a run has is a function of the records alone (grain), and no result depends on it.
//
// A leaf holds the queries of a shard, their lists (24 bytes a neighbor) and 16 MiB of its base; with ids also a sorted
// copy of these, and the ids of the neighbors. Step holds the lists of one tree and their file. m queries of n records
// cost m n distances, and each shard of the base is read, and with ids sorted, once for every shard of queries: shards
// of queries should be as large as memory allows.
//
// # The model
//
// The model holds the parameters, the scaling and the labels. With store_base it holds the base too, as
// vectors after scaling and projection (bits for hamming, texts for edit), and can then predict; a
// base beyond run.max_state_bytes is a STATE_TOO_BIG fault, never left out silently; its ids count too while it is
// gathered, and the last step sorts a copy. It is a parameter of the spec and not a consequence of the size, because
// the model is named by the spec.
// The lists, decisions and figures are files and metrics beside it. With given distances, precomputed and similarity,
// nothing can be stored.
//
// # Graphs
//
// Kind NeighborGraph is the search of all records of spec.input for each other, or of spec.queries in them, by k. Its
// lists become arrays with a row for each record: "indices" and "distances", k numbers each, as UMAP takes them
// (precomputed_knn), and the three of a sparse matrix, as scipy does. Distances are those above rounded to float32, and
// a row is in the order of (distance, id), but for self: a record begins its row, at distance 0 by definition, whatever
// duplicates there are and though the cosine of a zero vector with itself is 0. Each pair is computed twice, once from
// either side.
//
// # Bayes risk
//
// A job of mode classify by k estimates the Bayes risk from the error of the one nearest neighbor: see BayesRisk.
package knn
