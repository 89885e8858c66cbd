package compare

import (
	"fmt"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// first says what differs first: of what a result follows from, then of the nodes, then of the model.
func first(c *pb.Comparison) string {
	for _, part := range []struct {
		of   pb.ComparedPart
		name string
	}{{pb.ComparedPart_COMPARED_PART_SPEC, "spec"}, {pb.ComparedPart_COMPARED_PART_INPUT, "input"}} {
		if part.of == pb.ComparedPart_COMPARED_PART_SPEC && sameResult(c) {
			continue
		}
		if text := firstField(c, part.of, part.name); text != "" {
			return text
		}
	}
	switch c.GetModel() {
	case pb.SameModel_SAME_MODEL_SAME:
		return "Nothing that a result follows from: the models are the same, byte for byte."
	case pb.SameModel_SAME_MODEL_DIFFERENT:
		return "Not what was asked for, but the models: " + c.GetNode() + "."
	}
	return "Nothing that a result follows from; not both jobs have made a model."
}

// sameResult reports whether all is the same that a model follows from, but for bytes of the input that were replaced.
func sameResult(c *pb.Comparison) bool {
	return c.GetLeft().GetResultHash() != "" && c.GetLeft().GetResultHash() == c.GetRight().GetResultHash()
}

// firstField says which field of a part is the first; "" if none differs that a result follows from.
func firstField(c *pb.Comparison, part pb.ComparedPart, name string) string {
	var at *pb.ComparedField
	more := -1
	for _, f := range c.GetFields() {
		if f.GetPart() != part || part == pb.ComparedPart_COMPARED_PART_SPEC && rank(f.GetPath()) == len(resultParts) {
			continue
		}
		if more++; at == nil {
			at = f
		}
	}
	if at == nil {
		return ""
	}
	text := fmt.Sprintf("The %s: %s is %s on the left, %s on the right", name, at.GetPath(), valueText(at.GetLeft()),
		valueText(at.GetRight()))
	if more > 0 {
		text += fmt.Sprintf("; %s of it", protocol.Counted(more, "more field"))
	}
	return text + "."
}

func valueText(value string) string {
	if value == "" {
		return "absent"
	}
	return clip(value)
}
