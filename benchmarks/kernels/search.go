package main

import "fmt"

// knn finds the k nearest of n points for each of so many queries, all in one call.
func knn(n, d, queries, k int) workload {
	return workload{
		id:      workloadID("knn", n, d, queries, k),
		title:   fmt.Sprintf("top-%d of %d x %d, %d queries", k, n, d, queries),
		unit:    gflops,
		amount:  2 * float64(n) * float64(d) * float64(queries),
		limits:  arithmetic,
		entrant: func(e env) []contender { return nil },
	}
}

// knnOneByOne is the same with one query a call, which reads all points each time.
func knnOneByOne(n, d, queries, k int) workload {
	return workload{
		id:      workloadID("knnsingle", n, d, queries, k),
		title:   fmt.Sprintf("top-%d of %d x %d, one query a call", k, n, d),
		unit:    gigabyte,
		amount:  4 * float64(n) * float64(d) * float64(queries),
		limits:  bandwidth,
		serial:  true,
		entrant: func(e env) []contender { return nil },
	}
}
