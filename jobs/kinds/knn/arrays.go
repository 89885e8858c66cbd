package knn

import (
	"context"
	"math"

	"github.com/gram-compute/gram/jobs/learn/pairwise"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// Folders of the lists as two arrays, as FAISS returns them: a row for each query, of k numbers.
const (
	indicesFolder   = "indices"   // int64: the numbers of neighbors, -1 where there are fewer
	distancesFolder = "distances" // float32, +Inf where there are fewer
)

// arrays writes the lists of a search by k as two arrays.
func (o *output) arrays(ctx context.Context, t pairwise.Tree, root *partial) error {
	k, numbers := root.found.k, root.names
	ids := parts.Array{Name: "neighbor", Width: k, Ints: make([]int64, 0, k*len(t.Queries))}
	apart := parts.Array{Name: "distance", Width: k, Singles: make([]float32, 0, k*len(t.Queries))}
	for q, row := range root.found.rows {
		for i := range k {
			id, distance := int64(-1), math.Inf(1)
			if i < len(row) {
				id, distance = row[i].id, o.params.Metric.distance(row[i].key)
				if numbers != nil {
					id = numbers.numbers[id]
				}
				if math.IsInf(float64(float32(distance)), 0) {
					return tooFar(t.Queries[q], id, distance) // +Inf says that there is no neighbor
				}
			}
			ids.Ints, apart.Singles = append(ids.Ints, id), append(apart.Singles, float32(distance))
		}
	}
	if err := t.WriteArray(ctx, indicesFolder, ids); err != nil {
		return err
	}
	return t.WriteArray(ctx, distancesFolder, apart)
}
