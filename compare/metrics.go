package compare

import (
	"maps"
	"slices"

	"github.com/gram-compute/gram/jobs"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// How much of what differs an answer has room for.
const (
	maxFields  = 200
	maxMetrics = 500
	maxCurves  = 32
	maxPoints  = 256
	maxArrays  = 200
	maxWord    = 200 // bytes
)

// found is what the rounds of a job found: values by name, and curves by name and round.
type found struct {
	values map[string]Scalar
	curves map[string]map[uint32]float64
}

func foundIn(metrics []jobs.Metric) found {
	f := found{map[string]Scalar{}, map[string]map[uint32]float64{}}
	Scalars(metrics, func(s Scalar) {
		name, round, ok := Series(s.Name)
		switch {
		case !ok:
			f.values[s.Name] = s
		case s.Word == "":
			if f.curves[name] == nil {
				f.curves[name] = map[uint32]float64{}
			}
			f.curves[name][round] = s.Number
		}
	})
	return f
}

// metricRows are the values that either job found, by name.
func metricRows(a, b map[string]Scalar) (rows []*pb.ComparedMetric, more uint32) {
	for _, name := range either(a, b) {
		if len(rows) == maxMetrics {
			more++
			continue
		}
		row := &pb.ComparedMetric{Name: name}
		x, inA := a[name]
		y, inB := b[name]
		row.LeftWord, row.RightWord = clip(x.Word), clip(y.Word)
		if inA && x.Word == "" {
			row.Left = &x.Number
		}
		if inB && y.Word == "" {
			row.Right = &y.Number
		}
		if row.Left != nil && row.Right != nil {
			difference := y.Number - x.Number
			row.Difference = &difference
		}
		rows = append(rows, row)
	}
	return rows, more
}

// curveRows are the curves that either job found, by name. Of long ones the last points are left out.
func curveRows(a, b map[string]map[uint32]float64) (rows []*pb.ComparedCurve, more uint32) {
	for _, name := range either(a, b) {
		if len(rows) == maxCurves {
			more++
			continue
		}
		row := &pb.ComparedCurve{Name: name}
		for _, round := range either(a[name], b[name]) {
			point := &pb.ComparedPoint{Round: round}
			if v, ok := a[name][round]; ok {
				point.Left = &v
			}
			if v, ok := b[name][round]; ok {
				point.Right = &v
			}
			if row.Parts == 0 && (point.Left == nil || point.Right == nil || *point.Left != *point.Right) {
				row.Parts = round
			}
			if len(row.Points) == maxPoints {
				row.MorePoints++
				continue
			}
			row.Points = append(row.Points, point)
		}
		rows = append(rows, row)
	}
	return rows, more
}

// either are the keys of both maps, sorted.
func either[K uint32 | string, V any](a, b map[K]V) []K {
	keys := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// clip bounds a word.
func clip(word string) string {
	if len(word) <= maxWord {
		return word
	}
	cut := 0
	for at := range word { // the beginnings of its characters
		if at > maxWord-len("…") {
			break
		}
		cut = at
	}
	return word[:cut] + "…"
}
