package api

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// signingPurpose separates the cluster's signing key from everything else that its secret makes.
const signingPurpose = "gram signing key v1"

// proofManifest is what the manifest of a proof is called among a job's outputs.
const proofManifest = "proof/manifest.json"

var errNoSecret = errors.New("the cluster has no secret yet to derive its signing key from; repeat the call")

// Sign signs what the log holds of a job. Nothing of it comes from the caller or from a store.
func (s *Models) Sign(
	ctx context.Context, req *connect.Request[pb.SignRequest],
) (*connect.Response[pb.SignResponse], error) {
	view, _, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	job, refused := view.Resolve(req.Msg.GetId())
	if refused != nil {
		return nil, refused
	}
	run, err := runOf(view.ClusterID, job)
	if err != nil {
		return nil, err
	}
	key, err := signingKey(view)
	if err != nil {
		return nil, err
	}
	model, err := attestation.SignModel(job.ID, append(run.Subjects, run.Byproducts...), nil, key)
	if err != nil {
		return nil, err
	}
	line, err := attestation.SignProvenance(run, key)
	if err != nil {
		return nil, err
	}
	s.Logger.Info("job signed", "job", job.ID, "key", key.Public().ID())
	return connect.NewResponse(&pb.SignResponse{
		JobId: job.ID, ModelSignature: model, Provenance: line, PublicKey: string(key.Public().PEM()),
	}), nil
}

// SigningKey returns the public key of the cluster.
func (s *Models) SigningKey(
	ctx context.Context, _ *connect.Request[pb.SigningKeyRequest],
) (*connect.Response[pb.SigningKeyResponse], error) {
	view, _, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	key, err := signingKey(view)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.SigningKeyResponse{PublicKey: string(key.Public().PEM())}), nil
}

// signingKey derives the cluster's key from its secret, so that every member and every backup has it.
func signingKey(view state.State) (*attestation.PrivateKey, error) {
	if len(view.Secret) == 0 {
		return nil, connect.NewError(connect.CodeUnavailable, errNoSecret)
	}
	return attestation.DeriveKey(view.Secret, signingPurpose)
}

// runOf tells of a job that has succeeded as the log does.
func runOf(clusterID string, job *state.Job) (attestation.Run, error) {
	run := attestation.Run{
		Job: job.ID, Spec: job.SpecJSON, SpecHash: job.SpecHash, Builder: "urn:uuid:" + clusterID,
		Started: instant(job.StartedAt), Finished: instant(job.FinishedAt),
		Internal: map[string]any{"result_sha256": job.ResultHash, "kernel_sets": job.Kernels},
		Dependencies: []attestation.Resource{
			{Name: "manifest", Digest: sha256Of(job.Manifest)}, {Name: "plan", Digest: sha256Of(job.Plan)},
		},
	}
	if job.Stage != pb.JobState_JOB_STATE_SUCCEEDED {
		return run, outcome.Refuse(state.Held, "job %s has not succeeded: there is nothing to sign", job.ID)
	}
	model := false
	for _, o := range job.Outputs {
		file := attestation.File{Name: o.Name, SHA256: o.Ref.SHA256}
		switch o.Name {
		case protocol.ModelFile, proofManifest:
			model = model || o.Name == protocol.ModelFile && o.Ref.SHA256 == job.Model.SHA256
			run.Subjects = append(run.Subjects, file)
		default:
			run.Byproducts = append(run.Byproducts, file)
		}
	}
	if !model {
		return run, outcome.Refuse(state.Held, "the model among the outputs of job %s is not the one that the job made",
			job.ID)
	}
	return run, nil
}

func sha256Of(ref state.Ref) map[string]string {
	return map[string]string{"sha256": attestation.Digest(ref.SHA256).String()}
}

func instant(unixMilli int64) string {
	return time.UnixMilli(unixMilli).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
