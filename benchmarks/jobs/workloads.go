package main

// The workloads, as the peers know them too.
const (
	bayes            = "bayescounts/200000x110x100000x20"
	perceptronSparse = "perceptronsparse/200000x110x100000"
	perceptronDense  = "perceptrondense/100000x784"
	shuffledSparse   = "perceptronsparseshuffled/200000x110x100000"
	shuffledDense    = "perceptrondenseshuffled/100000x784"
	kmeans           = "kmeansfit/500000x32x256x10"
	knn              = "knnpictures/3"
	rounds           = "rounds/4"
)

func workloads() []workload {
	return []workload{
		{bayes, "naive Bayes counts, CSR 200k x 100k, 110 non-zeros a row, 20 classes", 1, 0, openBayes},
		{shuffledSparse, "perceptron epoch, the same CSR shape, 2 classes, shuffled", 1, 0.03, openShuffledSparse},
		{shuffledDense, "perceptron epoch, 100k x 784, 2 classes, shuffled", 1, 0.03, openShuffledDense},
		{perceptronSparse, "the sparse epoch in the order of the rows, no shuffle", 1, 0, openPerceptronSparse},
		{perceptronDense, "the dense epoch in the order of the rows, no shuffle", 1, 0, openPerceptronDense},
		{kmeans, "k-means job, 500k x 32, k=256, 10 rounds", 2, 1e-4, openKMeans},
		{knn, "3-NN job, MNIST 60,000/10,000", 2, 0, openKNN},
		{rounds, "round of a job of four tiny shards", 2, 0, openRounds},
	}
}
