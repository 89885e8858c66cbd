package main

import "fmt"

// kmeans is one round of k-means over n points: every point to the nearest of k
// centroids, then the means. The first k points are the first centroids.
func kmeans(n, d, k int) workload {
	return workload{
		id:      workloadID("kmeans", n, d, k),
		title:   fmt.Sprintf("k-means round, %d x %d, k = %d", n, d, k),
		unit:    gflops,
		amount:  2 * float64(n) * float64(d) * float64(k),
		limits:  arithmetic,
		entrant: func(e env) []contender { return nil },
	}
}
