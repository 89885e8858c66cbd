package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
	"golang.org/x/sync/errgroup"
)

// file is a file to compare.
type file struct {
	name string
	want proof.File
	of   string
}

// checkFiles compares all files that the proof or the report names with their digests: model, states, partials, and
// what the job emitted.
func (v *verifier) checkFiles(ctx context.Context) error {
	files := append([]file{{modelFile, v.manifest.Model, ""}}, v.keptFiles()...)
	emitted, err := v.emittedFiles(ctx)
	if err != nil {
		return err
	}
	files = append(files, emitted...)
	v.expect(&v.result.Files, int64(len(files)))
	v.stage("digests", "files", int64(len(files)))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, f := range files {
		group.Go(func() error {
			defer v.advance()
			return v.compareFile(ctx, f, i)
		})
	}
	return group.Wait()
}

// keptFiles are the states and partials that are kept, each once.
func (v *verifier) keptFiles() (files []file) {
	seen := map[string]bool{}
	add := func(name string, want proof.File, of string) {
		if !seen[name] {
			seen[name] = true
			files = append(files, file{name, want, of})
		}
	}
	for i, r := range v.rounds {
		if r == nil {
			continue
		}
		if v.manifest.Rounds[i].State {
			add(proof.StateFile(r.State), proof.File{SHA256: r.State, Size: r.StateSize},
				fmt.Sprintf(" (the state that round %d began with)", r.Round))
		}
		if v.manifest.Kept != proof.Full {
			continue
		}
		for tree := range r.Trees {
			for node := range proof.PostOrder(r.tree(tree)) {
				digest := r.recorded(tree, node)
				if name := proof.PartialFile(digest); !seen[name] {
					f := v.finding(r, tree, node)
					add(name, proof.File{SHA256: digest, Size: -1}, " ("+strings.ToLower(f.Says[:1])+f.Says[1:]+")")
				}
			}
		}
	}
	return files
}

// emittedFiles are those that the report lists, and the parts that indexes among them list.
func (v *verifier) emittedFiles(ctx context.Context) (files []file, err error) {
	data, err := v.read(ctx, reportFile, maxTextBytes)
	if data == nil || err != nil {
		return nil, err
	}
	var report struct {
		Job   string       `json:"job"`
		Model proof.Digest `json:"model_sha256"`
		Files []jobs.File  `json:"files"`
	}
	if err := readNamed(data, &report); err != nil {
		return nil, v.contradicts(reportFile, err)
	}
	v.agree(reportFile, "job", report.Job, v.provenance.Job)
	v.agree(reportFile, "the model", report.Model, v.manifest.Model.SHA256)
	listed, err := v.listed(reportFile, report.Files)
	if err != nil {
		return nil, err
	}
	for _, f := range listed {
		if !strings.HasSuffix(f.name, "/"+jobs.IndexName) {
			files = append(files, f)
			continue
		}
		if data, err = v.readFile(ctx, f.name, f.want, maxPlanBytes); err != nil {
			return nil, err
		}
		if data == nil {
			continue // what a false index lists says nothing
		}
		var index struct {
			Parts []jobs.File `json:"parts"`
			Tiles []jobs.File `json:"tiles"`
		}
		if err := json.Unmarshal(data, &index); err != nil {
			return nil, v.contradicts(f.name, err)
		}
		parts, err := v.listed(f.name, append(index.Parts, index.Tiles...))
		if err != nil {
			return nil, err
		}
		files = append(files, parts...)
	}
	return files, nil
}

// readNamed reads JSON that says one thing only; specs and metrics may have labels as names.
func readNamed(data []byte, to any) error {
	if err := protocol.CheckAlike(data, "spec", "metrics"); err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// listed are files that another one lists.
func (v *verifier) listed(in string, list []jobs.File) (files []file, err error) {
	for _, f := range list {
		var digest proof.Digest
		if err := digest.UnmarshalText([]byte(f.SHA256)); err != nil {
			return nil, v.contradicts(in, err)
		}
		files = append(files, file{f.Name, proof.File{SHA256: digest, Size: f.Size}, " (" + in + " lists it)"})
	}
	return files, nil
}
