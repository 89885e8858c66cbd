package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

func TestFailureOf(t *testing.T) {
	const (
		task  = pb.FailureClass_FAILURE_CLASS_TASK
		input = pb.FailureClass_FAILURE_CLASS_INPUT
		infra = pb.FailureClass_FAILURE_CLASS_INFRASTRUCTURE
	)
	alive := t.Context()
	drained, stop := context.WithCancelCause(alive)
	stop(ErrDrainTimeout)
	fault := func(code protocol.Code, class protocol.Class) error {
		return fmt.Errorf("map leaf 3: %w", (&protocol.Fault{Code: code, Class: class, What: "no label"}).In("in/x").
			At(7, 0).WithOffset(99))
	}
	for name, c := range map[string]struct {
		ctx   context.Context
		err   error
		code  protocol.Code
		class pb.FailureClass
		says  string
	}{
		"bad record": {alive, fault(protocol.CodeBadRecord, protocol.ClassInput), protocol.CodeBadRecord,
			input, "in/x, line 7"},
		"store": {alive, fault(protocol.CodeStore, protocol.ClassInfrastructure), protocol.CodeStore,
			infra, "no label"},
		"corrupt": {alive, fault(protocol.CodeCorrupt, protocol.ClassTask), protocol.CodeCorrupt, task,
			"CORRUPT"},
		"anything else": {alive, errors.New("index out of range"), protocol.CodeInternal, task,
			"index out of range"},
		"the store's time": {alive, fmt.Errorf("get x: %w", context.DeadlineExceeded), protocol.CodeStore, infra,
			"get x"},
		"the store gave up": {alive, fmt.Errorf("get x: %w", context.Canceled), protocol.CodeStore, infra, "get x"},
		"drained":           {drained, context.Canceled, protocol.CodeDrained, infra, "going down"},
		"drained while failing": {drained, fault(protocol.CodeStore, protocol.ClassInfrastructure),
			protocol.CodeDrained, infra, "going down"},
		"bytes, not text": {alive, errors.New("label \xff\xfe"), protocol.CodeInternal, task, "label \ufffd"},
		"a whole record": {alive, errors.New(strings.Repeat("\u00e9", 1<<20)), protocol.CodeInternal, task,
			"INTERNAL"},
	} {
		f := failureOf(c.ctx, c.err)
		if f.GetCode() != string(c.code) || f.GetClass() != c.class || !strings.Contains(f.GetMessage(), c.says) {
			t.Errorf("%s: %v", name, f)
		}
		if !utf8.ValidString(f.GetMessage()) || len(f.GetMessage()) > maxMessage {
			t.Errorf("%s: a message of %d bytes cannot be sent", name, len(f.GetMessage()))
		}
	}
}

func TestWireText(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 4, ""}, {"abc", 4, "abc"}, {"abcdef", 4, "abcd"}, {"ab\u00e9\u00e9", 5, "ab\u00e9"},
		{"ab\u00e9\u00e9", 4, "ab\u00e9"},
		{"\xff", 4, "\ufffd"}, {"ab\xff", 4, "ab"}, {"\u20ac\u20ac", 5, "\u20ac"},
	} {
		if got := wireText(c.text, c.limit); got != c.want {
			t.Errorf("wireText(%q, %d) = %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}
