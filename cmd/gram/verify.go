package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/verify"
	"github.com/spf13/cobra"
)

// verifyFlags say how thoroughly a job is checked.
type verifyFlags struct {
	sample, rounds       int
	all, named           bool // named: a person chose the draw
	draw                 uint64
	store, kernels, page string
	keyFiles             []string
}

func verifyCommand(a *app) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify JOB|URI",
		Short: "Check a finished job by repeating parts of it, without a cluster",
		Example: `  gram verify s3://models/digits-k3f9p2/
  gram verify digits-k3f9p2 --store s3://gram-jobs --rounds 3
  gram verify digits-k3f9p2 --all --page check.html
  gram verify s3://models/digits-k3f9p2/ --draw 8446744073709551557`,
		Long: `Compares every file of the job's proof with its digest, and what the files
beside the model tell with the proof. Then it repeats a random sample of leaves,
whole rounds, and, where the spec keeps partials (run.proof: full), every merge
and step. It ends with what was repeated, what was compared by digest only, and
the claim that follows. It reads the outputs and the input, and writes nothing
there.

A sample of 459 leaves makes 99 % sure that fewer than 1 % are false. One false
leaf in 10,000 may be missed; --all repeats everything. The sample comes from
this machine's own entropy, is printed, and --draw repeats it. By a draw that
somebody names, that holds only if the one who trained did not know it before.

A word without "." and "/" names a job (an id, SCHEDULE@latest or @ALIAS), all
else the folder of a model. With --store a job, by its id, is found in the
cluster's store, whether or not there is a cluster.

Signatures beside the model are checked first, as ` + "`gram model get`" + ` does: with
--public-key only these keys count, and one must have signed the model.

Exit code 0: verified. 9: something is false; the first of it is named. 10:
something is missing, and what could be checked matches.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.settle(a, cmd); err != nil {
				return err
			}
			return verifyJob(cmd.Context(), a, args[0], f)
		},
	}
	set := cmd.Flags()
	set.IntVar(&f.sample, "sample", verify.DefaultSample, "`number` of leaves to draw and repeat")
	set.BoolVar(&f.all, "all", false, "repeat every leaf, merge and step")
	set.IntVar(&f.rounds, "rounds", -1, "`number` of rounds to draw and repeat whole (default 1; 0 with proof: full)")
	set.Uint64Var(&f.draw, "draw", 0, "repeat the draw of this `number`")
	set.StringVar(&f.store, "store", "", storeUsage)
	set.StringVar(&f.kernels, "kernels", "", "kernel `set` to run (default GRAM_KERNELS, or the best)")
	set.StringSliceVar(&f.keyFiles, "public-key", nil,
		"`file` of a key, one of which must have signed the model; may be repeated")
	set.StringVar(&f.page, "page", "", "write an HTML page to this `file`; - is stdout")
	return cmd
}

// settle refuses flags that exclude each other, and draws where no draw was asked for.
func (f *verifyFlags) settle(a *app, cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	switch {
	case f.all && (changed("sample") || changed("rounds") || changed("draw")):
		return &exit.Failure{Code: exit.Usage, What: "--all repeats everything: leave --sample, --rounds and --draw out"}
	case f.sample < 0 || changed("rounds") && f.rounds < 0:
		return &exit.Failure{Code: exit.Usage, What: "--sample and --rounds are numbers from 0"}
	case f.page == "-" && a.flags.output == "json":
		return &exit.Failure{Code: exit.Usage, What: "--page - and -o json both write to stdout: give --page a file"}
	case changed("draw"):
		f.named = true
		return nil
	}
	var entropy [8]byte
	if _, err := rand.Read(entropy[:]); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	f.draw = binary.LittleEndian.Uint64(entropy[:])
	return nil
}

func verifyJob(ctx context.Context, a *app, from string, f verifyFlags) error {
	ctx, release := local.UntilStopped(ctx)
	defer release()
	ops, err := local.ChooseKernels(f.kernels)
	if err != nil {
		return err
	}
	folder, asked, err := finishedJob(ctx, a, from, f.store)
	if err != nil {
		return err
	}
	at, prefix, err := objstore.SplitObjectURI(folder)
	if err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	store, err := objects.OpenInput(ctx, at)
	if err != nil {
		return err
	}
	signed, err := f.signatures(ctx, a, from, folder)
	if err != nil {
		return err
	}
	if ended := signed.ended(asked.Job); ended != nil {
		return showAndEnd(a, checked{ended, signed.found}, f.page)
	}
	printer := a.printer(true)
	result, err := verify.Job(ctx, verify.Config{Store: store, Prefix: prefix, Asked: asked,
		OpenInput: objects.OpenInput,
		Kind:      all.Lookup, Ops: ops, Sample: f.sample, All: f.all, Rounds: f.rounds, Draw: f.draw, Named: f.named,
		Progress: verifyProgress(a, printer, from)})
	printer.Clear()
	if err != nil {
		return err
	}
	return showAndEnd(a, checked{result, signed.found}, f.page)
}

// showAndEnd shows a check, and returns how the command ends.
func showAndEnd(a *app, r checked, page string) error {
	if err := showChecked(a, r, page); err != nil {
		return err
	}
	return checkedFailure(r.Result)
}

// finishedJob finds the folder of a job's outputs, and what is known of them from elsewhere: nothing of a folder.
func finishedJob(ctx context.Context, a *app, from, store string) (string, verify.Asked, error) {
	if store != "" {
		folder, left, err := objects.LeftFolder(ctx, a.storeURI(store), from)
		asked := verify.Asked{Job: from}
		for _, o := range left {
			if err == nil {
				err = asked.Add(o.Name, o.SHA256)
			}
		}
		return folder, asked, err
	}
	place, err := a.outputsOf(ctx, from)
	asked := verify.Asked{Job: place.job.GetId()}
	for _, o := range place.job.GetOutputs() {
		if err == nil {
			err = asked.Add(o.GetName(), hex.EncodeToString(o.GetSha256()))
		}
	}
	return place.folder, asked, err
}

// verifyProgress shows how far a check is.
func verifyProgress(a *app, printer *terminal.Printer, from string) func(verify.Progress) {
	if a.flags.quiet {
		return nil
	}
	begun := a.now()
	return func(p verify.Progress) {
		printer.Update(terminal.Progress{Name: from, State: "Checking", Step: p.Stage, Done: uint64(p.Done),
			Total: uint64(p.Total), Unit: p.Unit, Since: begun})
	}
}

var (
	falseErrors = map[verify.FalseKind]error{
		verify.FalseFiles:   errors.New("files beside the model are not those that the job left, or contradict each other"),
		verify.FalseOutputs: errors.New("files beside the model are not what repeating the job gives"),
		verify.FalseNodes:   errors.New("the job is not what its proof says"),
	}
	errIncomplete = errors.New("something is missing")
	errSignature  = errors.New("not verified: a signature is invalid")
	errUnsigned   = errors.New("not verified: no key of --public-key has signed the model")
)

// checkedFailure is how the command ends: with the first finding, where there is one. Damaged files do not show that
// the job was false.
func checkedFailure(r *verify.Result) error {
	failure := func(code int, cause error, first verify.Finding) *exit.Failure {
		return &exit.Failure{Code: code, What: cause.Error(), Why: errors.New(first.Says), Cause: cause}
	}
	switch {
	case r.Verdict == verify.False && r.False[0].Of == verify.OfSignature:
		return failure(exit.Damaged, errSignature, r.False[0])
	case r.Verdict == verify.Incomplete && r.Missing[0].Of == verify.OfSignature:
		f := failure(exit.Missing, errUnsigned, r.Missing[0])
		f.Hint = "`gram sign` signs a model; without --public-key the rest is checked."
		return f
	case r.Verdict == verify.False:
		return failure(exit.Damaged, falseErrors[r.FalseKind()], r.False[0])
	case r.Verdict == verify.Incomplete:
		f := failure(exit.Missing, errIncomplete, r.Missing[0])
		switch first := r.Missing[0]; {
		case r.Job == "":
			f.Hint = "Name the folder of a job's outputs: it holds provenance.json."
		case first.Of == verify.OfFile && strings.HasPrefix(first.File, proof.Folder):
			f.Hint = "`gram model get` fetches no more of a proof than its manifest. Name the job by its id, or the folder " +
				"that it left."
		}
		return f
	}
	return nil
}
