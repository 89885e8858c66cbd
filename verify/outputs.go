package verify

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
)

// outputs reads the files beside the model.
type outputs struct {
	*ledger
	store  objstore.Store
	prefix string
	asked  Asked
}

// compareAsked compares the files of the folder with what the job is known to have left.
func (o *outputs) compareAsked(ctx context.Context) error {
	o.expect(&o.result.Files, int64(len(o.asked.Files)))
	for i, f := range o.asked.Files {
		of := " (the cluster knows it as the one that job " + o.asked.Job + " left)"
		if err := o.compareFile(ctx, file{f.Name, proof.File{SHA256: f.SHA256, Size: -1}, of}, i); err != nil {
			return err
		}
	}
	return nil
}

// read reads a file beside the model. It returns nil, and notes why, if the file is missing or cannot be read.
func (o *outputs) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	data, _, err := objstore.ReadAll(ctx, o.store, o.prefix+name, objstore.GetOptions{}, limit)
	if err != nil {
		return nil, o.unread(name, err)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// unread notes a file that could not be read; the error is the context's.
func (o *outputs) unread(name string, err error) error {
	if ended(err) {
		return err
	}
	says := fmt.Sprintf("%s cannot be read: %v.", name, err)
	if errors.Is(err, objstore.ErrNotFound) {
		says = name + " is missing."
	}
	o.noteMissing(Finding{Of: OfFile, File: name, Says: says})
	return nil
}

// readFile reads a file and compares it with its digest. It returns nil, and notes why, if the file is missing or has
// another digest.
func (o *outputs) readFile(ctx context.Context, name string, want proof.File, limit int64) ([]byte, error) {
	o.expect(&o.result.Files, 1)
	if want.Size >= 0 {
		limit = min(limit, want.Size) // no more than is recorded enters memory
	}
	data, _, err := objstore.ReadAll(ctx, o.store, o.prefix+name, objstore.GetOptions{}, limit)
	if err != nil {
		return nil, o.compareFile(ctx, file{name: name, want: want}, 0) // finds out what is wrong with it
	}
	if !o.matches(file{name: name, want: want}, proof.File{SHA256: sha256.Sum256(data), Size: int64(len(data))}, 0) {
		return nil, nil
	}
	o.count(&o.result.Files)
	return data, nil
}

// short is the beginning of a digest, for sentences; findings have the whole one.
func short(d proof.Digest) string { return d.String()[:12] }

// matches compares a file with what the proof says of it, and notes a difference.
func (o *outputs) matches(f file, got proof.File, place int) bool {
	name, want := f.name, f.want
	if got.SHA256 == want.SHA256 && (want.Size < 0 || got.Size == want.Size) {
		return true
	}
	says := fmt.Sprintf("The file %s%s does not have its digest: it has %s, and %s is recorded.", name, f.of,
		short(got.SHA256), short(want.SHA256))
	if got.SHA256 == want.SHA256 {
		says = fmt.Sprintf("The file %s has %d bytes, and %d are recorded.", name, got.Size, want.Size)
	}
	o.noteFalse(Finding{Of: OfFile, File: name, Recorded: &want.SHA256, Repeated: &got.SHA256, Says: says,
		place: place})
	return false
}

// compareFile compares a file, of any size, with its digest; a size below 0 is not known. place is for the order.
func (o *outputs) compareFile(ctx context.Context, f file, place int) error {
	got, err := o.digestOf(ctx, f.name)
	if err != nil {
		return o.unread(f.name, err)
	}
	if o.matches(f, got, place) {
		o.count(&o.result.Files)
	}
	return nil
}

// digestOf digests a file of any size.
func (o *outputs) digestOf(ctx context.Context, name string) (proof.File, error) {
	body, _, err := o.store.Get(ctx, o.prefix+name, objstore.GetOptions{})
	if err != nil {
		return proof.File{}, err
	}
	defer body.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, body)
	return proof.File{SHA256: proof.Digest(sum.Sum(nil)), Size: n}, err
}

// maxArraysBytes bounds a state or a partial that is read.
const maxArraysBytes = 64 << 30

// readArrays reads arrays that are kept under their digest. It returns nil, and notes why, if they are missing or have
// another digest.
func (o *outputs) readArrays(ctx context.Context, name string, digest proof.Digest) (jobs.Arrays, error) {
	data, _, err := objstore.ReadAll(ctx, o.store, o.prefix+name, objstore.GetOptions{}, maxArraysBytes)
	if err != nil {
		return nil, o.unread(name, err)
	}
	if !o.matches(file{name: name, want: proof.File{SHA256: digest, Size: -1}},
		proof.File{SHA256: sha256.Sum256(data), Size: int64(len(data))}, 0) {
		return nil, nil
	}
	arrays, err := jobs.Decode(data)
	if err != nil {
		return nil, o.contradicts(name, err)
	}
	return arrays, nil
}
