package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker"
)

// maxModelBytes bounds what a client loads.
const maxModelBytes = 8 << 30

// model is a loaded model.
type model struct {
	kind   jobs.Kind
	arrays jobs.Arrays
	sha256 string
	uri    string
}

// loadModel reads the model of a job, a file or a URI.
func loadModel(ctx context.Context, a *app, from string) (*model, error) {
	uri, want := "", ""
	if strings.ContainsAny(from, "./") {
		uri = specfile.AbsoluteURI(from, a.dir)
		if strings.HasSuffix(from, "/") {
			uri = a.folder(from) + worker.ModelFile
		}
	} else {
		c, err := a.connect()
		if err != nil {
			return nil, err
		}
		job, err := c.Find(ctx, from)
		if err != nil {
			return nil, err
		}
		output, err := modelOf(job)
		if err != nil {
			return nil, err
		}
		uri, want = output.GetUri(), hex.EncodeToString(output.GetSha256())
	}
	data, err := objects.Read(ctx, uri, maxModelBytes, want)
	if err != nil {
		return nil, err
	}
	m := &model{sha256: objects.Digest(data), uri: uri}
	if m.arrays, err = jobs.Decode(data); err != nil {
		return nil, &exit.Failure{Code: exit.Failed, What: uri + " is not a model", Why: err}
	}
	if m.kind, err = all.OfModel(m.arrays); err != nil {
		return nil, fmt.Errorf("%s: %w", uri, err)
	}
	return m, nil
}

func modelOf(job *gramv1.Job) (*gramv1.OutputFile, error) {
	for _, o := range job.GetOutputs() {
		if o.GetName() == worker.ModelFile {
			return o, nil
		}
	}
	if !client.Ended(job.GetState()) {
		return nil, &exit.Failure{Code: exit.Failed, What: "job " + job.GetId() + " has no model yet",
			Hint: "`gram wait " + job.GetId() + "` follows it to its end."}
	}
	if err := show.Outcome(job); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("job %s made no model", job.GetId())
}
