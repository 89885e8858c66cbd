package verify

import (
	"context"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/proof"
	"golang.org/x/sync/errgroup"
)

// file is a file to compare.
type file struct {
	name string
	want proof.File
	of   string // what it is, for sentences: "", or in parentheses after a space
}

// checkFiles compares all files that the proof or the report names with their digests: model, states, partials, and
// what the job emitted.
func (v *verifier) checkFiles(ctx context.Context) error {
	files := append([]file{{origin.ModelFile, v.manifest.Model, ""}}, v.keptFiles()...)
	emitted, err := told{v}.emittedFiles(ctx)
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
