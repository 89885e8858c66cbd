// Package kmeans clusters vectors: Algorithm 5 (K-Means) of Smola and Vishwanathan, "Introduction
// to Machine Learning" (2008), section 1.3.4. It minimises the distortion of equation 1.29, with a
// weight w_i for each record (1 where the input has none),
//
//	J(r, mu) = 1/2 sum over i, j of w_i r_ij |x_i - mu_j|^2,
//
// by turns: each record goes to its nearest center (1.30), each center to the mean of its records
// (1.32). The phases:
//
//	features     the space: width, scaling, column means, labels, dictionary
//	init.NAME    centers to begin from: random, plusplus, parallel or farthest; none where they are given
//	lloyd        a round of Algorithm 5: assign, add up, move; with other algorithms their name
//	lloyd.refill after a round that left clusters without records: the farthest records
//	means        the mean of each final cluster, where indices are wanted
//	finish       one pass with the final centers: sizes, distortion, agreement with labels, indices, and what is
//	             written of each record: assignments, distances to all centers
//
// # Algorithms
//
// Parameter algorithm says how the centers move. Each algorithm has parameters of its own, and refuses those of others;
// but for bisecting, all begin and end alike.
//
//	lloyd      Algorithm 5, above
//	soft       stiffness: responsibilities in place of assignments
//	minibatch  batch_size: in each round, the records drawn for it
//	bisecting  split: the cluster with the most of it becomes two
//
// Soft k-means is that of MacKay, "Information Theory, Inference, and Learning Algorithms" (2003), algorithm 20.7:
// center j has for record i the responsibility
//
//	r_ij = exp(-b |x_i - mu_j|^2) / sum over l of exp(-b |x_i - mu_l|^2),
//
// b being the stiffness, and moves to the mean of all records by the weights w_i r_ij. MacKay's distance is half the
// squared one, so his beta is 2b. Records of clusters that are Gaussian with standard deviation s in each column have b
// = 1 / (2 s^2); the greater b is, the nearer to Lloyd's algorithm. A responsibility below 2^-24 is 0, and the others
// add up to 1 (function share). A round never raises the free energy
//
//	F = -1/(2b) sum over i of w_i log(1/k sum over j of exp(-b |x_i - mu_j|^2)),
//
// but for terms that become 0; it is at least 0, and tends to J as b grows. F has local minima as J has, and for a
// small b only one: all centers are the mean of the records. With metric cosine |x - mu|^2 is 2 (1 - cosine). Folder
// responsibilities has those of the final centers, and a job of kind Predict with scores writes those of new records. A
// record is in the cluster of its nearest center, which has the greatest responsibility.
//
// Mini-batch k-means is Algorithm 1 of Sculley, "Web-scale k-means clustering" (WWW 2010). A round draws batch_size
// records, with chances in proportion to their weights, by identity and round, and without replacement. Each of them
// adds 1 to the count of its nearest center and moves it by 1/count of the way, max_rounds times. A center's first
// records leave nothing of where it began. One pass over the records draws for up to 32 rounds; no model depends on how
// many.
//
// Bisecting k-means (Steinbach, Karypis and Kumar, "A comparison of document clustering techniques", KDD workshop on
// text mining, 2000) begins with one cluster of all records and splits, k-1 times, that of the greatest distortion, or
// weight, by 2-means: the first of equals, as the last round of its own split saw it. A split draws its first center
// with chances in proportion to weights and the second with w D^2 (init random: w; farthest: the farthest record),
// without the trials of greedy k-means++, and ends as Lloyd's rounds do. A record belongs to the cluster that it
// reaches on the way down the tree of splits, by the nearer of two centers; another cluster's center may be nearer. The
// model has the tree. A split depends on the records of its cluster alone, so a pass goes on with every split that may
// be needed; passes grow with the depth of the tree, not with k, unless a cluster at a time is the largest.
//
// # Begin
//
// The text begins with random records ("random"). The default is "kmeans||" (Bahmani, Moseley, Vattani,
// Kumar and Vassilvitskii, "Scalable k-means++", VLDB 2012, algorithm 2): a first record, then init_rounds
// passes that each draw oversampling * k records with a chance in proportion to w D^2, D being the distance
// to the nearest record drawn so far; each candidate then weighs what is nearest to it, and greedy k-means++ on the
// candidates chooses k. In place of independent draws, each round draws exactly that many. It takes init_rounds + 2
// passes and the distances of 1 + init_rounds * oversampling * k candidates. "kmeans++" (Arthur and Vassilvitskii,
// "k-means++: the advantages of careful seeding", SODA 2007) is greedy too, as its authors suggest in their last
// section: 2 + ln k records are drawn in proportion to w D^2, and the one that leaves the least sum of w D^2 becomes a
// center. One pass finds these sums, and for each of the candidates what would be drawn next: k + 1 passes. The sums
// are fixed point (type potential). "farthest" takes the record farthest from those taken, after a random first:
// k passes (Gonzalez, 1985). All draw by package sampling, from records as they are read, so that no draw depends on
// shards.
//
// # Numerics
//
// Assignment is kernelops.Nearest, as docs/numerics.md says: the center at the least float64 distance of the record as
// it is, the lower number at a tie. Responsibilities go by the distances of kernelops.Within, which finds the centers
// that may have one with the same filter; exp and log are those of kernelops/fmath. Products w r x are rounded to 2^-48
// of themselves (softSummer). Sums are exact (package sums). A round changes J only downwards, but for the rounding of
// distances and centers. Rounds of Lloyd's after the first skip distances that cannot change an assignment (type
// memory), by bounds in the worker's memory: results are the same to the bit. Seeding by farthest and kmeans++ skips
// records that a new seed does not reach (type reach), and the silhouette clusters that are not the nearest (types
// meanBounds and pairBounds), by the triangle inequality.
//
// With metric "cosine" rows are scaled to length 1 and so are centers (Dhillon and Modha, "Concept
// decompositions for large sparse text data using clustering", Machine Learning 42, 2001). The distance
// is half the squared Euclidean one: 1 - cosine. A row of zeros has no direction: it stays zero, never becomes a
// center, and belongs to the nearest center, at a distance of 1/2.
//
// # End
//
// It stops when no assignment changed (as the text does), when J fell by less than tol times what it was before (tol is
// 0 by default: never), or after max_rounds. Note that scikit-learn's tol is another: a bound on how far centers move.
// The restart with the least J of its last round is kept. Centers are numbered in lexicographic order of their
// coordinates. The restart with the least F is kept of soft k-means, which stops when F fell by less than tol times
// what it was before, when no center moved, or after max_rounds. Records that spec.input.split holds out are left
// alone: nothing is judged on them, and a job of kind Predict assigns them.
//
// Folder assignments has the cluster of each training record and its distance, folder distances those to all centers:
// roots, not squares, or 1 - cosine. Large leaves write several parts of the latter. Kind Predict with distances writes
// the same numbers of new records.
package kmeans
