package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/attestation/outputs"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/cobra"
)

func signCommand(a *app) *cobra.Command {
	var keyFile string
	var replace bool
	cmd := &cobra.Command{
		Use:   "sign JOB|FOLDER|URI [--key FILE]",
		Short: "Sign the model of a job and what is beside it",
		Example: `  gram sign glosses-k3f9p2
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem
  openssl pkey -in key.pem -pubout -out key.pub
  gram sign glosses-k3f9p2 --key key.pem
  gram sign ./models/glosses-k3f9p2/ --key key.pem`,
		Long: `Compares the files of a finished job with each other, and writes two signatures
beside the model: model.sig, which OpenSSF's model_signing checks as well, and
provenance.intoto.jsonl, a signed SLSA provenance with a line for each key.
` + "`gram model get`" + ` checks both. A word without "." and "/" names a job: its id,
SCHEDULE@latest or @ALIAS. Its files are also compared with the digests that the
cluster has, and without --key the cluster signs these digests by its own key
(` + "`gram cluster public-key`" + `). All else is a folder or a URI of one, and needs
--key: a file with an ECDSA key on P-256 in PEM.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s := signing{app: a, replace: replace}
			if keyFile != "" {
				var err error
				if s.key, err = a.signingKey(keyFile); err != nil {
					return err
				}
			}
			return s.sign(cmd.Context(), args[0])
		},
	}
	cmd.Flags().StringVar(&keyFile, "key", "", "`file` of the private key (default the cluster signs)")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace a model.sig of another key")
	return cmd
}

// signingKey reads a private key, and warns if others can read it.
func (a *app) signingKey(name string) (*attestation.PrivateKey, error) {
	path := a.within(name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, keyFailure(name, err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		a.note("gram: warning: %s can be read by others; chmod 600 it", name)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, keyFailure(name, err)
	}
	key, err := attestation.ReadPrivateKey(text)
	if err != nil {
		return nil, keyFailure(name, err)
	}
	return key, nil
}

func keyFailure(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &exit.Failure{Code: exit.NotFound, What: "there is no key file " + name, Cause: err}
	}
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		return &exit.Failure{Code: exit.Usage, What: name + ": " + fault.What, Why: fault.Err, Hint: fault.Hint,
			Cause: err}
	}
	return err
}

// signed is what `sign` did, as JSON.
type signed struct {
	SchemaVersion int      `json:"schema_version"`
	Job           string   `json:"job"`
	Folder        string   `json:"folder"`
	Key           string   `json:"key"`
	Files         []string `json:"files"`
}

// signing is one run of `sign`.
type signing struct {
	app     *app
	key     *attestation.PrivateKey // nil asks the cluster
	replace bool
}

func (s signing) sign(ctx context.Context, from string) error {
	place, err := s.app.outputsOf(ctx, from)
	if err != nil {
		return err
	}
	if s.key == nil && place.job == nil {
		return &exit.Failure{Code: exit.Usage, What: "a folder is signed with a key file, and --key names none",
			Hint: "Name a job to have the cluster sign it."}
	}
	read, err := readFolder(ctx, place.folder)
	if err != nil {
		return err
	}
	if err := compareWithJob(read, place.job); err != nil {
		return err
	}
	read.Replace = s.replace
	signatures, key, err := s.signatures(ctx, read, place)
	if fault, ok := errors.AsType[*protocol.Fault](err); ok && fault.Code == protocol.CodeOutputTaken {
		return &exit.Failure{Code: exit.Conflict, What: place.folder + fault.Object + ": " + fault.What, Why: fault.Err,
			Hint: fault.Hint, Cause: err}
	}
	if err != nil {
		return err
	}
	told := signed{SchemaVersion: show.SchemaVersion, Job: read.Job, Folder: place.folder, Key: key}
	if told.Files, err = writeSignatures(ctx, place.folder, signatures); err != nil {
		return err
	}
	if s.app.flags.output == "json" {
		return s.app.printJSON(told)
	}
	fmt.Fprintf(s.app.out, "job  %s\nkey  %s\n", told.Job, told.Key)
	s.app.note("gram: %s written to %s", strings.Join(told.Files, " and "), place.folder)
	return nil
}

// readFolder reads a folder of outputs to be signed. It is opened to be read only: opened to be written, a folder that
// is absent is made.
func readFolder(ctx context.Context, folder string) (*outputs.Folder, error) {
	store, prefix, err := openFolder(ctx, folder, true)
	if err != nil {
		return nil, err
	}
	read, err := outputs.Read(ctx, store, prefix)
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		code := exit.Failed
		if errors.Is(err, objstore.ErrTooLarge) {
			code = exit.Damaged
		}
		return nil, &exit.Failure{Code: code, What: fault.Object + ": " + fault.What, Hint: fault.Hint + ".",
			Cause: err}
	}
	return read, err
}

// writeSignatures writes files of signatures into a folder, and returns their names.
func writeSignatures(ctx context.Context, folder string, files []outputs.Signature) (names []string, err error) {
	store, prefix, err := openFolder(ctx, folder, false)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if _, err := store.Put(ctx, prefix+file.Name, file.Data); err != nil {
			return nil, fmt.Errorf("write the signature: %w", err)
		}
		names = append(names, file.Name)
	}
	return names, nil
}

// signatures returns the files of signatures and the identifier of their key.
func (s signing) signatures(
	ctx context.Context, read *outputs.Folder, from place,
) ([]outputs.Signature, string, error) {
	if s.key != nil {
		files, err := read.Sign(s.key)
		return files, s.key.Public().ID(), err
	}
	res, err := from.cluster.Models.Sign(ctx, connect.NewRequest(&gramv1.SignRequest{Id: from.job.GetId()}))
	if err != nil {
		return nil, "", from.cluster.Explain(err)
	}
	key, err := attestation.ReadPublicKey([]byte(res.Msg.GetPublicKey()))
	if err != nil {
		return nil, "", fmt.Errorf("the cluster's key: %w", err)
	}
	files, err := read.SignedBy(key, res.Msg.GetModelSignature(), res.Msg.GetProvenance())
	return files, key.ID(), err
}

// place is where the outputs of a job are, and the job and its cluster if one was asked.
type place struct {
	folder  string // a URI that ends in "/"
	job     *gramv1.Job
	cluster *client.Cluster
}

// outputsOf finds the folder of a job's outputs.
func (a *app) outputsOf(ctx context.Context, from string) (place, error) {
	if strings.ContainsAny(from, "./") {
		folder := a.folder(from)
		if err := a.mustBeFolder(from); err != nil {
			return place{folder: folder}, err
		}
		return place{folder: folder}, mustHaveJob(ctx, folder)
	}
	c, err := a.connect()
	if err != nil {
		return place{}, err
	}
	job, err := c.Find(ctx, from)
	if err != nil {
		return place{}, err
	}
	model, err := modelOf(job)
	if err != nil {
		return place{}, err
	}
	return place{strings.TrimSuffix(model.GetUri(), model.GetName()), job, c}, nil
}

// outputNames are files beside a model, which people name in place of its folder.
var outputNames = []string{worker.ModelFile, worker.ProvenanceFile, worker.ReportFile, worker.PageFile,
	attestation.ModelSignatureFile, attestation.ProvenanceFile}

// mustBeFolder refuses a file, on a disk by what it is and elsewhere by the names of a job's outputs, and a path on a
// disk at which there is nothing.
func (a *app) mustBeFolder(from string) error {
	uri := specfile.AbsoluteURI(from, a.dir)
	file := slices.Contains(outputNames, path.Base(uri)) && !strings.HasSuffix(uri, "/")
	if local, ok := strings.CutPrefix(uri, "file://"); ok {
		info, err := os.Stat(filepath.FromSlash(local))
		if errors.Is(err, fs.ErrNotExist) {
			return &exit.Failure{Code: exit.NotFound, What: "there is no folder " + from,
				Hint: "Name the folder of a job's outputs: it holds " + worker.ModelFile + ".", Cause: err}
		}
		file = err == nil && !info.IsDir()
	}
	if !file {
		return nil
	}
	in := strings.TrimSuffix(from[:strings.LastIndexByte(from, '/')+1], proof.Folder)
	return &exit.Failure{Code: exit.Usage, What: from + " is a file, not the folder of a job's outputs",
		Hint: "Name the folder that it is in: " + cmp.Or(in, "./")}
}

// openFolder opens the store of a folder, whose URI ends in "/".
func openFolder(ctx context.Context, folder string, readOnly bool) (objstore.Store, string, error) {
	storeURI, prefix, err := objstore.SplitObjectURI(folder)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", folder, err)
	}
	store, err := objects.OpenAnywhere(ctx, storeURI, readOnly)
	return store, prefix, err
}

// compareWithJob compares the files of a folder with the digests that the cluster has of the job's outputs.
func compareWithJob(folder *outputs.Folder, job *gramv1.Job) error {
	for _, output := range job.GetOutputs() {
		at := slices.IndexFunc(folder.Files, func(f attestation.File) bool { return f.Name == output.GetName() })
		if at < 0 {
			return &exit.Failure{Code: exit.NotFound,
				What: fmt.Sprintf("%s of job %s is absent from its folder", output.GetName(), job.GetId())}
		}
		if want := hex.EncodeToString(output.GetSha256()); folder.Files[at].SHA256.String() != want {
			return &exit.Failure{Code: exit.Failed, What: output.GetUri() + " is not the object that the job made",
				Why: fmt.Errorf("its SHA-256 is %s, the job's is %s", folder.Files[at].SHA256, want)}
		}
	}
	return nil
}
