package all_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/protocol"
)

// Numbers to predict are no classes to spread over folds: the spec is refused, before anything is read.
func TestNoStrataOfNumbers(t *testing.T) {
	for kind, more := range map[string]string{"LinearModel": `,"loss":"squared"`, "SupportVectorMachine": "",
		"NearestNeighbors": `,"k":3`} {
		for _, split := range []string{`{"folds":3,"by":"label"}`, `{"test":0.5,"by":"label"}`} {
			for mode, refused := range map[string]bool{"regress": true, "classify": false} {
				extra := more
				if mode == "classify" && kind == "LinearModel" {
					extra = ""
				}
				spec, err := protocol.ParseSpec(fmt.Appendf(nil, `{"apiVersion":"v1","kind":%q,"metadata":{},"spec":{"input":
					{"uri":"file:///in/","format":"csv","label":1,"split":%s},"output":{},"params":{"mode":%q%s},"repro":{},
					"run":{}}}`, kind, split, mode, extra))
				if err == nil {
					_, err = all.Validate(spec)
				}
				if !refused && err != nil || refused && (err == nil || !strings.Contains(err.Error(),
					"spec.input.split.by is label, and labels are numbers in mode regress")) {
					t.Errorf("%s, mode %s, %s: %v", kind, mode, split, err)
				}
			}
		}
	}
}
