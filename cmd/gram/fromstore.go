package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// storeUsage is of a flag for verbs that can do without the cluster.
const storeUsage = "read from the cluster's object store at this `URI`, without the cluster"

// A store may have been written by anybody.
const (
	maxEndBytes     = 1 << 20
	maxSegmentBytes = 1 << 20
)

// openLeft opens the store of a cluster that may be gone, to read what it left of a job.
func (a *app) openLeft(ctx context.Context, uri, job string) (objstore.Store, error) {
	if !protocol.ValidJobID(job) {
		return nil, &failure{code: exitUsage, what: fmt.Sprintf("%q is no job's id", job), hint: "With --store a job is named by its whole id."}
	}
	store, err := openOwnInput(ctx, a.storeURI(uri))
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	return store, nil
}

// leftOutput reads one of the files that a job left, as the end record in the store tells of it.
func (a *app) leftOutput(ctx context.Context, uri, job, name string) ([]byte, error) {
	store, err := a.openLeft(ctx, uri, job)
	if err != nil {
		return nil, err
	}
	end, err := readEnd(ctx, store, job)
	if err != nil {
		return nil, err
	}
	for _, o := range end.Outputs {
		switch {
		case o.Name != name:
		case o.Key == "":
			return readObject(ctx, o.URI, maxReportBytes, o.SHA256)
		default:
			return readKey(ctx, store, o.Key, maxReportBytes, o.SHA256)
		}
	}
	return nil, &failure{code: exitNotFound, what: fmt.Sprintf("job %s left no %s", job, name)}
}

func readEnd(ctx context.Context, store objstore.Store, job string) (end protocol.EndRecord, err error) {
	data, err := readKey(ctx, store, protocol.EndKey(job), maxEndBytes, "")
	if errors.Is(err, objstore.ErrNotFound) {
		return end, &failure{code: exitNotFound, what: fmt.Sprintf("%s tells of no end of job %s", store, job),
			hint: "It has not succeeded, or ran in another store; `gram logs --store` may tell more.", cause: err}
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

// readKey reads an object of at most limit bytes and holds it against a SHA-256, unless that is "".
func readKey(ctx context.Context, store objstore.Store, key string, limit int64, want string) ([]byte, error) {
	body, _, err := store.Get(ctx, key, objstore.GetOptions{})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s/%s: %w", store, key, err)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%s/%s has more than %d bytes", store, key, limit)
	}
	if sum := sha256.Sum256(data); want != "" && hex.EncodeToString(sum[:]) != want {
		return nil, fmt.Errorf("%s/%s has other bytes than the job's end record says (SHA-256 %x, not %s)", store, key, sum, want)
	}
	return data, nil
}

// leftLogs prints the log segments of a job in a store.
func (a *app) leftLogs(ctx context.Context, uri, job string) error {
	store, err := a.openLeft(ctx, uri, job)
	if err != nil {
		return err
	}
	found, palette := false, a.palette(a.out)
	for info, err := range store.List(ctx, protocol.LogPrefix(job)) {
		if err != nil {
			return fmt.Errorf("list log segments: %w", err)
		}
		found = true
		text, err := readKey(ctx, store, info.Key, maxSegmentBytes, "")
		if err != nil {
			return err
		}
		for line := range strings.Lines(strings.ToValidUTF8(string(text), "\ufffd")) {
			if line = strings.TrimRight(line, "\n"); a.flags.output != "json" {
				line = logLine(line, palette)
			} else {
				line = string(terminal.JSON([]byte(line)))
			}
			if _, err := fmt.Fprintln(a.out, line); err != nil {
				return &failure{code: exitFailed, what: "write to stdout", why: err}
			}
		}
	}
	if !found {
		return &failure{code: exitNotFound, what: fmt.Sprintf("%s holds no log of job %s", store, job)}
	}
	return nil
}
