package clustertest_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// emittingPhase writes a file for each leaf, whose digest goes into the result.
type emittingPhase struct {
	jobs.Phase
	lies func() bool
}

func (p emittingPhase) Map(
	ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, ops *kernelops.Set,
) (jobs.Arrays, jobs.Arrays, error) {
	partial, _, err := p.Phase.Map(ctx, state, leaf, carry, ops)
	if err != nil {
		return nil, nil, err
	}
	text := fmt.Appendf(nil, "leaf %d of state %x", leaf.Index, state.Encode())
	if p.lies() {
		text[0] ^= 0x10
	}
	file, err := leaf.Emit(ctx, fmt.Sprintf("parts/%03d.txt", leaf.Index), text)
	if err != nil {
		return nil, nil, err
	}
	sum, err := hex.DecodeString(file.SHA256)
	if err != nil {
		return nil, nil, err
	}
	n, err := jobs.GetScalar[int64](partial, "n")
	return counted(n<<8 + int64(sum[0])), nil, err
}

func emittingKind(lies func() bool) jobs.Kind {
	return withPhases(pairsKind(), func(p jobs.Phase) jobs.Phase { return emittingPhase{p, lies} })
}

// A liar's files are replaced by those of the workers that are right, and so are those that honest workers made of its
// lies.
func TestALiarsFilesAreMadeAgain(t *testing.T) {
	t.Parallel()
	never := func() bool { return false }
	store := textStore(t, 12, 200)
	b := clustertest.StartLocal(t, t.TempDir(), "mem://m", 5*time.Second, memStores(store), emittingKind(never))
	b.Work(t, "truth", 1, kernelops.Generic())
	b.Submit(t, "truth", auditSpec(1, "0"))
	truth, err := clustertest.Output(b.Wait(t, "truth"), "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	b.KindsWith(lyingKind(emittingKind(always), always))
	b.Work(t, "liar", 2, kernelops.Generic())
	b.KindsWith(emittingKind(never))
	for i := range 3 {
		b.Work(t, fmt.Sprint("w", i), 1, kernelops.Generic())
	}
	for i := range 3 {
		id := fmt.Sprint("j", i)
		b.Submit(t, id, auditSpec(1, "1"))
		job := b.Wait(t, id)
		model, err := clustertest.Output(job, "model.safetensors")
		succeeded := job.GetState() == pb.JobState_JOB_STATE_SUCCEEDED
		if err != nil || !succeeded || !slices.Equal(model.GetSha256(), truth.GetSha256()) {
			t.Fatalf("%s: %v, %v, %v; %v", id, job.GetState(), job.GetFailure(), err, job.GetAudit())
		}
		for shard := range 20 {
			name := fmt.Sprintf("/parts/%03d.txt", shard)
			want, _, err := objstore.ReadAll(t.Context(), store, "models/truth"+name, objstore.GetOptions{}, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := objstore.ReadAll(t.Context(), store, "models/"+id+name, objstore.GetOptions{}, 1<<20)
			if err != nil || string(got) != string(want) {
				t.Errorf("%s%s holds %q, %v; want %q", id, name, got, err, want)
			}
		}
	}
}
