package command

import (
	"fmt"
	"strings"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// maxOutputName bounds the name of an output, in bytes.
const maxOutputName = 128

// CheckOutputs refuses outputs of a job that its worker cannot have written: people and other programs open what they
// name. A name is one file or a file in one folder, of plain characters; the place is the job's folder in its store, by
// the spec and the job's id, and no other.
func (m Maker) CheckOutputs(view state.State, jobID string, files []*pb.OutputFile) error {
	job, ok := view.Job(jobID)
	if !ok || !job.Reporting() {
		return nil // state says that the report is stale
	}
	folder, err := m.outputFolder(jobID, job.SpecJSON)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, f := range files {
		switch name := f.GetName(); {
		case !validOutputName(name):
			return fmt.Errorf("an output is named %.200q; a name has one or two parts of letters, digits, '.', '_' "+
				"and '-'", name)
		case seen[name]:
			return fmt.Errorf("the output %q is told twice", name)
		case f.GetUri() != folder+name:
			return fmt.Errorf("the output %q is said to be at %.200q; it belongs to %q", name, f.GetUri(), folder+name)
		default:
			seen[name] = true
		}
	}
	return nil
}

// outputFolder is where the outputs of a job go, as its worker finds it: below spec.output.uri, or in the cluster's
// store.
func (m Maker) outputFolder(jobID string, specJSON []byte) (string, error) {
	spec, err := protocol.ParseSpec(specJSON)
	if err != nil {
		return "", err
	}
	if spec.Spec.Output.URI == "" {
		return m.StoreURI + "/" + protocol.OutputPrefix(jobID), nil
	}
	store, prefix, err := objstore.SplitObjectURI(spec.Spec.Output.URI)
	if err != nil {
		return "", err
	}
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return store + "/" + prefix + jobID + "/", nil
}

// BadOutputs is the failure of a report with such outputs; another worker may tell the right ones.
func BadOutputs(err error) *pb.Failure {
	fault := protocol.TaskFault(protocol.CodeInternal,
		"the coordinator does not accept the report: %s", err.Error())
	return &pb.Failure{Code: string(fault.Code), Class: pb.FailureClass_FAILURE_CLASS_TASK, Message: fault.Error()}
}

func validOutputName(name string) bool {
	parts := strings.Split(name, "/")
	if len(name) > maxOutputName || len(parts) > 2 {
		return false
	}
	for _, part := range parts {
		if part == "" || part[0] == '.' {
			return false
		}
		for _, r := range part {
			if r != '.' && r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') &&
				(r < 'A' || r > 'Z') {
				return false
			}
		}
	}
	return true
}
