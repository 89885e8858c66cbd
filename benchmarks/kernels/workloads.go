package main

import (
	"strconv"
	"strings"
)

// The workloads that goals speak of.
const (
	xyt128    = "xyt/4096x4096x128"
	xyt784    = "xyt/4096x4096x784"
	rbf128    = "rbf/4096x4096x128"
	rbf784    = "rbf/4096x4096x784"
	poly128   = "polynomial/4096x4096x128"
	kmeans256 = "kmeansexact/500000x32x256"
	kmeans100 = "kmeansexact/200000x64x100"
	kmeans10  = "kmeansexact/60000x784x10"
	knn128    = "knn/100000x128x1000x10"
	knn784    = "knn/60000x784x2000x5"
	knnSingle = "knnsingle/100000x128x20x10"
	dotRows   = "dotrows/262144x1024"
	axpyRows  = "axpyrows/262144x1024"
	sparse    = "sparsedot/20000x112x100000"
	generic   = "generic/512x512x128"
)

// sweep are the dimensions of the plot.
var sweep = []int{16, 32, 64, 128, 256, 512, 784, 1024}

// workloads are all, in the order of the page.
func workloads() []workload {
	var all []workload
	for _, d := range sweep {
		w := products(4096, 4096, d)
		w.point = w.id != xyt128 && w.id != xyt784
		w.serial = w.point
		all = append(all, w)
	}
	return append(all,
		genericProducts(512, 512, 128),
		sqDists(4096, 4096, 128),
		rbf(4096, 4096, 128),
		rbf(4096, 4096, 784),
		polynomial(4096, 4096, 128),
		kmeansExact(500_000, 32, 256),
		kmeansExact(200_000, 64, 100),
		kmeansExact(60_000, 784, 10),
		knn(100_000, 128, 1000, 10),
		knn(60_000, 784, 2000, 5),
		knnOneByOne(100_000, 128, 20, 10),
		dotOfRows(1<<18, 1024),
		axpyOfRows(1<<18, 1024),
		sparseDot(20_000, 112, 100_000),
		symmetricRBF(4096, 128),
		l1OfRows(100_000, 128),
		projection(20_000, 784, 128),
	)
}

// workloadID is how the peers know an operation on these sizes.
func workloadID(operation string, sizes ...int) string {
	var text []string
	for _, n := range sizes {
		text = append(text, strconv.Itoa(n))
	}
	return operation + "/" + strings.Join(text, "x")
}
