package local

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/storefile"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/stores"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/report"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/pflag"
)

// StoreFlags say what jobs may open: the stores that a file declares, and folders.
type StoreFlags struct {
	File  string
	roots []string
}

// Add adds the flags; who ends the sentence on which stores they are.
func (f *StoreFlags) Add(set *pflag.FlagSet, who string) {
	set.StringVar(&f.File, "stores", "",
		"`file` that declares the S3 stores "+who+" (default: any, as the environment says)")
	set.StringArrayVar(&f.roots, "file-root", nil, "`directory` that jobs may read and write; may be repeated")
}

// absolute are the roots from the working directory.
func (f StoreFlags) absolute() ([]string, error) {
	absolute := make([]string, len(f.roots))
	for i, root := range f.roots {
		var err error
		if absolute[i], err = filepath.Abs(root); err != nil {
			return nil, fmt.Errorf("--file-root %s: %w", root, err)
		}
	}
	return absolute, nil
}

// policy is what the flags allow.
func (f StoreFlags) policy(getenv func(string) string) (policy stores.Policy, err error) {
	if policy.FileRoots, err = f.absolute(); err != nil || f.File == "" {
		return policy, err
	}
	if policy.Stores, err = storefile.Load(f.File, getenv); err != nil {
		return policy, &exit.Failure{Code: exit.Usage, What: err.Error()}
	}
	return policy, nil
}

// given reports whether the flags bound anything.
func (f StoreFlags) given() bool { return f.File != "" || len(f.roots) > 0 }

// checked refuses specs with URIs that the policy leaves out, besides those that do not validate.
func checked(validate func(protocol.JobSpec) (protocol.JobSpec, error),
	policy stores.Policy) func(protocol.JobSpec) (protocol.JobSpec, error) {
	return func(spec protocol.JobSpec) (protocol.JobSpec, error) {
		spec, err := validate(spec)
		if err != nil {
			return spec, err
		}
		for _, u := range spec.URIs() {
			if *u.URI == "" || u.URI == &spec.Spec.Model && protocol.IsReference(*u.URI) {
				continue // a reference is checked as the URI that it becomes
			}
			if err := policy.Check(*u.URI, u.URI == &spec.Spec.Output.URI); err != nil {
				return spec, protocol.SpecFault("%s: %v", u.Field, err).
					WithHint("What the cluster may open is declared where its coordinators and workers are started " +
						"(--stores, --file-root).")
			}
		}
		return spec, nil
	}
}

// OpenWithin lets a worker open the stores that jobs name: those that are declared, or any S3, and folders below
// the roots. The root "/" is every folder.
func OpenWithin(f StoreFlags, getenv func(string) string, cfg *worker.Config) error {
	policy, err := f.policy(getenv)
	if err != nil {
		return err
	}
	everywhere := slices.Contains(policy.FileRoots, string(filepath.Separator))
	open := func(write bool) func(context.Context, string) (objstore.Store, error) {
		return func(ctx context.Context, uri string) (objstore.Store, error) {
			if everywhere && strings.HasPrefix(uri, "file://") {
				return objects.OpenAnywhere(ctx, uri, !write)
			}
			return policy.Open(ctx, uri, write)
		}
	}
	cfg.OpenStore, cfg.OpenInput = open(true), open(false)
	return nil
}

// GuardStores lets a coordinator take only specs that the flags allow, and opens its own store: a declared one or,
// as its owner names it, a folder.
func GuardStores(
	ctx context.Context, f StoreFlags, getenv func(string) string, cfg *coordinator.Config,
) error {
	policy, err := f.policy(getenv)
	if err != nil {
		return err
	}
	cfg.Validate, cfg.LeastState, cfg.MostRounds = all.Validate, all.LeastState, all.RoundsFrom
	cfg.Ended = report.EndedBy(all.Lookup)
	if f.given() {
		cfg.Validate = checked(all.Validate, policy)
	}
	if policy.Stores != nil && strings.HasPrefix(cfg.StoreURI, "s3://") {
		if err := policy.Check(cfg.StoreURI+"/", true); err != nil {
			return &exit.Failure{Code: exit.Usage, What: "--store: " + err.Error(),
				Hint: "Declare it in --stores, with what lies below it under write."}
		}
		cfg.Store, err = policy.Open(ctx, cfg.StoreURI, true)
	} else {
		cfg.Store, err = objects.Open(ctx, cfg.StoreURI)
	}
	if err != nil {
		return fmt.Errorf("job store: %w", err)
	}
	return nil
}
