package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Side is what a cluster knows of one of two jobs.
type Side struct {
	Job     *pb.ComparedJob
	Spec    []byte        // canonical
	Input   string        // digest of the list of objects that was planned; "" of a job that is not planned
	Kernels []string      // that made its nodes
	Found   []jobs.Metric // what its rounds found
	Rounds  []Round       // the newest that have ended
}

// Round is a round that has ended, and the digest of the state that it made.
type Round struct {
	Number uint32
	Phase  string
	State  [32]byte
}

// Answer compares two jobs. The difference is of the folders that both left, nil where these were not compared.
func Answer(left, right Side, d *Difference) (*pb.Comparison, error) {
	c := &pb.Comparison{Left: left.Job, Right: right.Job, Model: sameModel(left.Job, right.Job)}
	fields, err := left.fields(right, d)
	if err != nil {
		return nil, err
	}
	c.Fields = fields
	a, b := foundIn(left.Found), foundIn(right.Found)
	c.Metrics, c.MoreMetrics = metricRows(a.values, b.values)
	c.Curves, c.MoreCurves = curveRows(a.curves, b.curves)
	if d != nil {
		c.Node = d.Nodes.Says
		arrayRows(c, d.Arrays)
	} else {
		c.Node = rounds(left.Rounds, right.Rounds)
	}
	c.First = first(c) // counts all fields, those that are left out too
	c.MoreFields = uint32(max(0, len(fields)-maxFields))
	c.Fields = fields[:min(len(fields), maxFields)]
	return c, nil
}

func sameModel(a, b *pb.ComparedJob) pb.SameModel {
	switch {
	case len(a.GetModelSha256()) == 0 || len(b.GetModelSha256()) == 0:
		return pb.SameModel_SAME_MODEL_UNKNOWN
	case string(a.GetModelSha256()) == string(b.GetModelSha256()):
		return pb.SameModel_SAME_MODEL_SAME
	}
	return pb.SameModel_SAME_MODEL_DIFFERENT
}

// fields are what differs of spec, input and build, in this order: of the spec first what a result follows from.
func (s Side) fields(other Side, d *Difference) (rows []*pb.ComparedField, err error) {
	spec, err := origin.Fields(s.Spec, other.Spec)
	if err != nil {
		return nil, fmt.Errorf("read the specs: %w", err)
	}
	slices.SortStableFunc(spec, func(a, b Field) int { return cmp.Compare(rank(a.Path), rank(b.Path)) })
	input, build := s.planned(other), s.built(other)
	if d != nil {
		input, build = d.Input, d.Build
	}
	add := func(part pb.ComparedPart, fields []Field) {
		for _, f := range fields {
			rows = append(rows, &pb.ComparedField{Part: part, Path: f.Path, Left: f.Left, Right: f.Right})
		}
	}
	add(pb.ComparedPart_COMPARED_PART_SPEC, spec)
	add(pb.ComparedPart_COMPARED_PART_INPUT, input)
	add(pb.ComparedPart_COMPARED_PART_BUILD, build)
	return rows, nil
}

// resultParts are the parts of a spec that a result follows from, in the order in which they are listed.
var resultParts = []string{
	"kind", "spec.params", "spec.input", "spec.queries", "spec.model", "spec.model_sha256", "spec.evaluation", "spec.repro",
}

// rank sorts the fields of a spec; what reaches no result comes last.
func rank(path string) int {
	if strings.HasSuffix(path, ".shard_bytes") {
		return len(resultParts)
	}
	at := slices.IndexFunc(resultParts, func(part string) bool {
		rest, ok := strings.CutPrefix(path, part)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
	if at < 0 {
		return len(resultParts)
	}
	return at
}

// planned compares the lists of objects. The same bytes in another place make another list.
func (s Side) planned(other Side) []Field {
	if s.Input == "" || other.Input == "" || s.Input == other.Input {
		return nil
	}
	return []Field{{Path: "list of objects", Left: s.Input, Right: other.Input}}
}

func (s Side) built(other Side) []Field {
	of := func(s Side) map[string]string { return map[string]string{"kernels": strings.Join(s.Kernels, ", ")} }
	return origin.Differing(of(s), of(other))
}

// rounds says which is the first whose state differs, by what the log has of the two jobs.
func rounds(a, b []Round) string {
	if len(a) == 0 || len(b) == 0 {
		return "not both jobs have ended a round"
	}
	if a[0].Number != b[0].Number {
		return "the log has not the same rounds of both jobs any more"
	}
	for i := range min(len(a), len(b)) {
		switch {
		case a[i].Phase != b[i].Phase:
			return fmt.Sprintf("round %d is %s in the first, and %s in the second", a[i].Number, a[i].Phase, b[i].Phase)
		case a[i].State != b[i].State:
			return fmt.Sprintf("round %d (%s) made another state", a[i].Number, a[i].Phase)
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("the same in all %s that both have ended", protocol.Counted(min(len(a), len(b)), "round"))
	}
	return fmt.Sprintf("the same in all %s", protocol.Counted(len(a), "round"))
}

// arrayRows adds the arrays that differ.
func arrayRows(c *pb.Comparison, arrays []Array) {
	for _, a := range arrays {
		switch {
		case a.Says == "the same":
			c.SameArrays++
		case len(c.GetArrays()) == maxArrays:
			c.MoreArrays++
		default:
			c.Arrays = append(c.Arrays, &pb.ComparedArray{
				Name: a.Name, Type: a.Type, Says: a.Says, Differ: uint64(a.Differ), Elements: uint64(a.Elements),
				Largest: a.Largest, MaxUlp: a.MaxULP, MeanUlp: a.MeanULP,
			})
		}
	}
}
