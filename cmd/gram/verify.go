package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"runtime"
	"strconv"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/verify"
	"github.com/spf13/cobra"
)

// verification is what the flags of verify ask for.
type verification struct {
	store, kernels, draw, page string
	keyFiles                   []string
	cfg                        verify.Config
}

func verifyCommand(a *app) *cobra.Command {
	var v verification
	cmd := &cobra.Command{
		Use:   "verify JOB|URI",
		Short: "Check a finished job by computing parts of it again",
		Example: `  gram verify digits-k3f9p2
  gram verify s3://models/digits-k3f9p2/ --all
  gram verify digits-k3f9p2 --store s3://gram-jobs --rounds 2`,
		Long: `Compares every digest that the job left beside its model (proof/), and computes a
random sample of its leaves again: if all 459 come out as the job says, less than
1 % of all leaves are false, with a confidence of 99 %. One false leaf in 10,000
may be missed. --rounds N repeats N whole rounds, leaves, merges and step; --all
repeats everything. Merges and steps are repeated too where the job kept their
inputs (spec.run.proof: full). It takes no cluster: read access to the model's
folder and to the input will do, and any CPU; --kernels or GRAM_KERNELS chooses
the kernel set.

The sample comes from this machine's randomness, so that nobody could prepare for
it. Its number is printed; --draw repeats it. A word without "." and "/" names a
job (an id, SCHEDULE@latest or @ALIAS), all else the folder of a model. With
--store the job is found by its id in the cluster's store, without the cluster.

Signatures beside the model are checked first, as ` + "`gram model get`" + ` does: with
--public-key only these keys count, and one must have signed the model.

Exit code 0: verified. 9: something is false; the first is named. 10: something
that is needed is missing, and nothing was found to be false.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), a, args[0]) },
	}
	set := cmd.Flags()
	set.IntVar(&v.cfg.Sample, "sample", verify.DefaultSample, "`number` of leaves to repeat")
	set.IntVar(&v.cfg.Rounds, "rounds", 0, "`number` of rounds to repeat as a whole")
	set.BoolVar(&v.cfg.All, "all", false, "repeat everything")
	set.StringVar(&v.draw, "draw", "", "repeat the sample of this `number` (default: a new one)")
	set.IntVar(&v.cfg.Slots, "slots", 0, "`number` of leaves at a time; 0 is one per CPU")
	set.StringVar(&v.kernels, "kernels", "", "kernel `set` to run (default GRAM_KERNELS, or the best)")
	set.StringVar(&v.store, "store", "", storeUsage)
	set.StringSliceVar(&v.keyFiles, "public-key", nil,
		"`file` of a key, one of which must have signed the model; may be repeated")
	set.StringVar(&v.page, "page", "", "write an HTML page of what was found to this `file`")
	return cmd
}

func (v *verification) run(ctx context.Context, a *app, from string) error {
	folder, err := outputFolder(ctx, a, from, v.store)
	if err != nil {
		return err
	}
	if err := v.configure(ctx, a, folder); err != nil {
		return err
	}
	signatures, err := v.signatures(ctx, a, from, folder)
	if err != nil {
		return err
	}
	progress, clear := a.verifying()
	v.cfg.Progress = progress
	result, err := verify.Run(ctx, v.cfg)
	clear()
	if err != nil {
		return err
	}
	if v.page != "" {
		if err := writeVerification(a, result, signatures, v.page); err != nil {
			return err
		}
	}
	if a.flags.output == "json" {
		err = a.printJSON(struct {
			*verify.Result
			Signatures []attestation.Finding `json:"signatures"`
		}{result, signatures})
	} else {
		printVerification(a.out, result, signatures)
	}
	if err != nil {
		return err
	}
	return outcomeOf(result)
}

func (v *verification) configure(ctx context.Context, a *app, folder string) error {
	if v.cfg.Sample < 0 || v.cfg.Rounds < 0 || v.cfg.Slots < 0 {
		return &exit.Failure{Code: exit.Usage, What: "--sample, --rounds and --slots are 0 or more"}
	}
	var err error
	if v.cfg.Draw, err = drawOf(v.draw); err != nil {
		return err
	}
	if v.cfg.Ops, err = local.ChooseKernels(v.kernels); err != nil {
		return err
	}
	if v.cfg.Slots == 0 {
		v.cfg.Slots = runtime.GOMAXPROCS(0)
	}
	storeURI, prefix, err := objstore.SplitObjectURI(folder)
	if err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	store, err := objects.OpenInput(ctx, storeURI)
	if err != nil {
		return err
	}
	v.cfg.Read = func(ctx context.Context, name string) ([]byte, error) {
		data, _, err := objstore.ReadAll(ctx, store, prefix+name, objstore.GetOptions{}, maxModelBytes)
		return data, err
	}
	v.cfg.OpenInput, v.cfg.Kind = objects.OpenInput, all.Lookup
	return nil
}

// drawOf reads the number of a draw; without one it is random.
func drawOf(text string) (uint64, error) {
	if text == "" {
		var random [8]byte
		_, err := rand.Read(random[:])
		return binary.LittleEndian.Uint64(random[:]), err
	}
	draw, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("--draw is %.40q", text),
			Hint: "It is the number that an earlier verify printed."}
	}
	return draw, nil
}

// outcomeOf is the exit code of a verification.
func outcomeOf(r *verify.Result) error {
	switch r.Verdict {
	case verify.False:
		return &exit.Failure{Code: exit.Damaged, What: "not verified", Why: r.False}
	case verify.Incomplete:
		return &exit.Failure{Code: exit.Missing, What: "not verified: " + r.Missing[0] + " is missing",
			Hint: "What could be checked is as the job says."}
	}
	return nil
}
