package api

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/coordinator/findings"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"golang.org/x/sync/errgroup"
)

const (
	modelsAtOnce  = 25
	mostModels    = 100
	modelsRead    = 64 // objects of the store that one answer may read
	modelsWithin  = 5 * time.Second
	signaturesGet = 8 // at once
)

// ListModels pages through the models, newest job first.
func (s *Models) ListModels(
	ctx context.Context, req *connect.Request[pb.ListModelsRequest],
) (*connect.Response[pb.ListModelsResponse], error) {
	limit := min(cmp.Or(int(req.Msg.GetLimit()), modelsAtOnce), mostModels)
	below, err := parsePageToken(req.Msg.GetPageToken())
	if err != nil {
		return nil, err
	}
	view, _, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	kinds := map[string]bool{}
	var found []*state.Job
	view.EachJob(func(j *state.Job) bool {
		if j.HasModel() && j.Kind != protocol.PredictKind {
			kinds[j.Kind] = true
			if (below == 0 || j.Number < below) && (req.Msg.GetKind() == "" || req.Msg.GetKind() == j.Kind) {
				found = append(found, j)
			}
		}
		return true
	})
	// total order: numbers differ
	slices.SortFunc(found, func(a, b *state.Job) int { return cmp.Compare(b.Number, a.Number) })
	res := &pb.ListModelsResponse{Kinds: slices.Sorted(maps.Keys(kinds))}
	shown := found[:min(len(found), limit)]
	if len(shown) < len(found) {
		res.NextPageToken = pageToken(shown[len(shown)-1].Number)
	}
	res.Models = s.describeModels(ctx, view, shown)
	return connect.NewResponse(res), nil
}

// pageToken names the last job of a page.
func pageToken(number uint64) string {
	return base64.RawURLEncoding.EncodeToString(strconv.AppendUint(nil, number, 10))
}

// describeModels reads what tells the models of jobs apart.
func (s *Models) describeModels(ctx context.Context, view state.State, shown []*state.Job) []*pb.Model {
	aliases := map[string][]string{}
	view.EachAlias(func(a state.Alias) bool {
		aliases[a.JobID] = append(aliases[a.JobID], a.Name)
		return true
	})
	ctx, cancel := context.WithTimeout(ctx, modelsWithin)
	defer cancel()
	models := make([]*pb.Model, len(shown))
	var group errgroup.Group
	group.SetLimit(signaturesGet)
	for i, job := range shown {
		models[i] = modelOf(job, aliases[job.ID])
		group.Go(func() error {
			models[i].Checks.Signature = s.signature(ctx, job)
			return nil
		})
	}
	s.readHeadlines(ctx, shown, models)
	_ = group.Wait() // returns no error
	return models
}

// readHeadlines adds the numbers of models.
func (s *Models) readHeadlines(ctx context.Context, shown []*state.Job, models []*pb.Model) {
	var wanted []findings.Wanted
	from := make([]int, 0, len(shown)+1)
	for _, job := range shown {
		from = append(from, len(wanted))
		wanted = append(wanted, findings.Last(job)...)
	}
	from = append(from, len(wanted))
	found := s.Findings.Read(ctx, wanted, modelsRead)
	for i := range shown {
		var metrics []jobs.Metric
		for _, f := range found[from[i]:from[i+1]] {
			if f.Err != nil {
				models[i].Unread = protocol.Visible(f.Err.Error())
			}
			metrics = append(metrics, f.Metrics...)
		}
		models[i].Headlines = findings.Headlines(metrics)
	}
}

func modelOf(job *state.Job, aliases []string) *pb.Model {
	out, _ := job.ModelOutput() // the caller chose jobs with a model
	audit := job.Audits.Summary()
	m := &pb.Model{JobId: job.ID, Name: job.Name, Kind: job.Kind, Aliases: aliases, FinishedUnixMs: job.FinishedAt,
		ScheduleId: job.ScheduleID, TickUnixMs: job.Tick,
		File: &pb.OutputFile{Name: out.Name, Uri: out.URI, Sha256: out.Ref.SHA256[:], Size: out.Ref.Size},
		Checks: &pb.ModelChecks{SharePpm: audit.GetSharePpm(), Drawn: audit.GetDrawn(), Agreed: audit.GetAgreed(),
			Waived: audit.GetWaived(), Disputed: audit.GetDisputed(),
		},
	}
	m.Checks.EveryTask = audit.GetSharePpm() == everyNode && audit.GetDrawn() > 0 &&
		audit.GetAgreed() == audit.GetDrawn()
	for _, o := range job.Outputs {
		m.Checks.Proof = m.Checks.Proof || o.Name == proofManifest
	}
	return m
}

// everyNode is the share of audits that leaves no node out.
const everyNode = 1_000_000

// signature looks for a signature beside the model of a job.
func (s *Models) signature(ctx context.Context, job *state.Job) pb.SignatureFile {
	if !leftHere(job) {
		return pb.SignatureFile_SIGNATURE_FILE_UNKNOWN
	}
	_, err := s.Store.Stat(ctx, protocol.OutputPrefix(job.ID)+attestation.ModelSignatureFile)
	switch {
	case err == nil:
		return pb.SignatureFile_SIGNATURE_FILE_PRESENT
	case errors.Is(err, objstore.ErrNotFound):
		return pb.SignatureFile_SIGNATURE_FILE_ABSENT
	}
	s.Logger.Warn("look for a signature", "job", job.ID, "error", err)
	return pb.SignatureFile_SIGNATURE_FILE_UNKNOWN
}

// parsePageToken returns the number of the last job of the page before; 0 means the first page.
func parsePageToken(token string) (below uint64, err error) {
	if token == "" {
		return 0, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		below, err = strconv.ParseUint(string(text), 10, 64)
	}
	if err != nil || below == 0 {
		return 0, connect.NewError(connect.CodeInvalidArgument, errors.New("page_token is not one that ListModels returned"))
	}
	return below, nil
}
