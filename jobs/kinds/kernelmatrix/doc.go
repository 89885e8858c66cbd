// Package kernelmatrix computes the Gram matrix of a data set: K_ij = k(x_i, x_j) for every two
// of its records (Smola and Vishwanathan, "Introduction to Machine Learning", section 1.3.3, where it is
// what an algorithm sees of the data), or the kernel of each record of spec.queries, a row, with each of
// spec.input, a column. The kernels are those of package kernels.
//
// # Phases
//
// Phase "records" is that of package features: the width and the scaling. It also numbers the records
// and writes who they are, object, offset and label, below records/ (of spec.input) and queries/.
// Row and column i of the matrix is record i, counted from 0 over the training records in order.
//
// Phase "held_out", only where input.split holds records out, counts those left in each logical block of
// params.block_records.
//
// Phase "tiles" has a tree for each block of rows, and in it a leaf for each block of columns; of a symmetric
// matrix for each (i, j) with i <= j. There are up to 2^20 leaves in up to 16,384 trees: 1,447 blocks of a symmetric
// matrix. More are refused before a tile is computed. Merge lists what was written. A leaf cuts its blocks into strips
// of at most params.tile records, and writes the kernel of each two strips as a file of its own. It holds two strips
// and one tile in memory, whatever the number of records; a strip has fewer records where these are wide (at most 16
// MiB of float32).
//
// # Files
//
// A tile is an npy file of float32 in C order. tiles/index.json lists the tiles with the row and the
// column of their first element, their size and SHA-256 (type Index). Of a symmetric matrix only those of the upper
// triangle are there: K[c:c+w, r:r+h] is the transpose. Assemble makes one file of them; so does, in Python,
//
//	index = json.load(open("tiles/index.json"))
//	K = numpy.empty((index["rows"], index["columns"]), "float32")
//	for t in index["tiles"]:
//	    x, r, c = numpy.load(t["name"]), t["row"], t["column"]
//	    K[r:r+x.shape[0], c:c+x.shape[1]] = x
//	    if index["symmetric"]:
//	        K[c:c+x.shape[1], r:r+x.shape[0]] = x.T
//
// An element is that of kernelops.Set.KernelMatrix and, of rbf, that of kernels.Evaluator, whatever the tiles, blocks
// and kernel set. The cut into files follows the blocks, and neither the shards nor the files of the input. A value
// that is not finite is a BAD_RECORD fault.
//
// # Positive semidefinite or not
//
// A kernel's matrix has no negative eigenvalue if it is an inner product of anything (Mercer). Of a symmetric
// matrix the model therefore keeps a sample: the rows and columns of up to params.psd_sample records, which are drawn
// by (seed, ordinal), so that no shard matters. Certify computes its eigenvalues with gonum. They are no bytes of
// the model or of any other promised file, because gonum's digits differ by build: they are computed from the sample
// when the model is read. A tolerance bounds, in the Frobenius norm, what float32 may have changed in the sample
// (bound, kernels.Function.ValueError), and gonum's own error: by Weyl's inequality no eigenvalue of the exact matrix
// is farther away. The matrix is refuted if its least eigenvalue is below minus the tolerance. The sample is positive
// semidefinite if that is the tolerance or more, and no more is said of the records outside of it. In between it
// cannot be told, and the certificate says what would make it tellable.
//
// The model predicts nothing. It holds the SHA-256 of tiles/index.json, and through it names every
// byte of the matrix.
package kernelmatrix
