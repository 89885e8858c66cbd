package worker

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// writeEnd says beside the job's objects what the job has left and where, for those who come when the
// cluster is gone.
func (j *job) writeEnd(ctx context.Context, brief *pb.JobBrief, files []*pb.OutputFile) error {
	end := protocol.EndRecord{
		SchemaVersion: 1, Job: j.id, Name: brief.GetRecord().GetName(), Kind: brief.GetRecord().GetKind(),
		SpecHash: brief.GetSpecHash(), ResultHash: brief.GetResultHash(), Outputs: []protocol.EndOutput{},
	}
	own := j.w.storeAt + "/" + protocol.OutputPrefix(j.id)
	for _, f := range files {
		left := protocol.EndOutput{Name: f.GetName(), SHA256: hex.EncodeToString(f.GetSha256()), Size: f.GetSize()}
		if strings.HasPrefix(f.GetUri(), own) {
			left.Key = strings.TrimPrefix(f.GetUri(), j.w.storeAt+"/")
		} else {
			left.URI = f.GetUri()
		}
		end.Outputs = append(end.Outputs, left)
	}
	data, err := json.MarshalIndent(end, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the end record: %w", err)
	}
	if _, err := j.w.store.Put(ctx, protocol.EndKey(j.id), append(data, '\n')); err != nil {
		return jobStoreFault("keep the end record", err)
	}
	return nil
}
