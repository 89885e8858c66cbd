package objects

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker"
)

// A store may have been written by anyone.
const (
	maxEndBytes     = 1 << 20
	MaxSegmentBytes = 1 << 20
	MaxReportBytes  = 64 << 20
)

// OpenLeft opens the store of a cluster that may be gone, to read what it left of a job.
func OpenLeft(ctx context.Context, uri, job string) (objstore.Store, error) {
	if !protocol.ValidJobID(job) {
		return nil, &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("%q is no job's id", job),
			Hint: "With --store a job is named by its whole id."}
	}
	store, err := OpenInput(ctx, uri)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	return store, nil
}

// LeftOutput reads one of the files that a job left, as the end record in the store tells of it.
func LeftOutput(ctx context.Context, uri, job, name string) ([]byte, error) {
	store, err := OpenLeft(ctx, uri, job)
	if err != nil {
		return nil, err
	}
	end, err := readEnd(ctx, store, job)
	if errors.Is(err, objstore.ErrNotFound) {
		if key, found := endedKey(ctx, store, job, name); found {
			return ReadKey(ctx, store, key, MaxReportBytes, "")
		}
	}
	if err != nil {
		return nil, err
	}
	for _, o := range end.Outputs {
		switch {
		case o.Name != name:
		case o.Key == "":
			return Read(ctx, o.URI, MaxReportBytes, o.SHA256)
		default:
			return ReadKey(ctx, store, o.Key, MaxReportBytes, o.SHA256)
		}
	}
	return nil, &exit.Failure{Code: exit.NotFound, What: fmt.Sprintf("job %s left no %s", job, name)}
}

// endedKey is the last report of a name that a job left which failed or was cancelled.
func endedKey(ctx context.Context, store objstore.Store, job, name string) (key string, found bool) {
	for info, err := range store.List(ctx, protocol.EndedPrefix(job)) {
		if err != nil {
			return "", false // that the job has not succeeded is said then
		}
		if strings.HasSuffix(info.Key, "-"+name) {
			key, found = info.Key, true // keys are in the order of the ends
		}
	}
	return key, found
}

// LeftFolder returns the URI, ending in "/", of the folder with the model that a job left, and all that it left.
func LeftFolder(ctx context.Context, uri, job string) (string, []protocol.EndOutput, error) {
	store, err := OpenLeft(ctx, uri, job)
	if err != nil {
		return "", nil, err
	}
	end, err := readEnd(ctx, store, job)
	if err != nil {
		return "", nil, err
	}
	for _, o := range end.Outputs {
		if o.Name == worker.ModelFile {
			at := o.URI
			if o.Key != "" {
				at = uri + "/" + o.Key
			}
			return strings.TrimSuffix(at, o.Name), end.Outputs, nil
		}
	}
	return "", nil, &exit.Failure{Code: exit.NotFound, What: fmt.Sprintf("job %s left no %s", job, worker.ModelFile)}
}

func readEnd(ctx context.Context, store objstore.Store, job string) (end protocol.EndRecord, err error) {
	data, err := ReadKey(ctx, store, protocol.EndKey(job), maxEndBytes, "")
	if errors.Is(err, objstore.ErrNotFound) {
		return end, &exit.Failure{Code: exit.NotFound, What: fmt.Sprintf("%s tells of no end of job %s", store, job),
			Hint: "It has not succeeded, or ran in another store; `gram logs --store` may tell more.", Cause: err}
	}
	if err != nil {
		return end, err
	}
	if err := json.Unmarshal(data, &end); err != nil {
		return end, fmt.Errorf("%s/%s is not an end record: %w", store, protocol.EndKey(job), err)
	}
	if end.Job != job {
		return end, fmt.Errorf("%s/%s tells of job %q", store, protocol.EndKey(job), end.Job)
	}
	return end, nil
}

// ReadOutput reads one of a job's outputs, and compares it with its digest.
func ReadOutput(ctx context.Context, job *gramv1.Job, name string) ([]byte, error) {
	for _, o := range job.GetOutputs() {
		if o.GetName() == name {
			return Read(ctx, o.GetUri(), MaxReportBytes, hex.EncodeToString(o.GetSha256()))
		}
	}
	return nil, fmt.Errorf("job %s left no %s", job.GetId(), name)
}
