package kmeans

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// assignments gathers where each record of a leaf went, by column.
type assignments struct {
	objects   []string
	offsets   []int64
	clusters  []int64
	distances []float64
}

func newAssignments() *assignments {
	return &assignments{[]string{}, []int64{}, []int64{}, []float64{}}
}

func (r *assignments) add(id dataset.Identity, cluster int32, distance float64) {
	r.objects, r.offsets = append(r.objects, id.Object), append(r.offsets, id.Offset)
	r.clusters, r.distances = append(r.clusters, int64(cluster)), append(r.distances, distance)
}

func (r *assignments) table() parts.Table {
	return parts.Table{{Name: "object", Texts: r.objects}, {Name: "offset", Ints: r.offsets},
		{Name: "cluster", Ints: r.clusters}, {Name: "distance", Floats: r.distances}}
}

// writeIndex emits assignments/index.json.
func (p *finishPhase) writeIndex(ctx context.Context, emit jobs.Emit, list parts.List) error {
	_, err := parts.WriteIndex(ctx, emit, assignmentsFolder,
		parts.Index{Format: parts.CSV, Columns: newAssignments().table().Names(), Parts: list})
	return err
}
