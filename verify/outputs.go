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
func (v *outputs) compareAsked(ctx context.Context) error {
	v.expect(&v.result.Files, int64(len(v.asked.Files)))
	for i, f := range v.asked.Files {
		of := " (the cluster knows it as the one that job " + v.asked.Job + " left)"
		if err := v.compareFile(ctx, file{f.Name, proof.File{SHA256: f.SHA256, Size: -1}, of}, i); err != nil {
			return err
		}
	}
	return nil
}

// read reads a file beside the model. One that is missing or cannot be read is noted, and nil.
func (v *outputs) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	data, _, err := objstore.ReadAll(ctx, v.store, v.prefix+name, objstore.GetOptions{}, limit)
	if err != nil {
		return nil, v.unread(name, err)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// unread notes a file that could not be read; the error is the context's.
func (v *outputs) unread(name string, err error) error {
	if ended(err) {
		return err
	}
	says := fmt.Sprintf("%s cannot be read: %v.", name, err)
	if errors.Is(err, objstore.ErrNotFound) {
		says = name + " is missing."
	}
	v.isMissing(Finding{Of: OfFile, File: name, Says: says})
	return nil
}

// readFile reads a file and compares it with its digest. If it is missing or another one, that is noted, and it is nil.
func (v *outputs) readFile(ctx context.Context, name string, want proof.File, limit int64) ([]byte, error) {
	v.expect(&v.result.Files, 1)
	if want.Size >= 0 {
		limit = min(limit, want.Size) // no more than is recorded enters memory
	}
	data, _, err := objstore.ReadAll(ctx, v.store, v.prefix+name, objstore.GetOptions{}, limit)
	if err != nil {
		return nil, v.compareFile(ctx, file{name: name, want: want}, 0) // finds out what is wrong with it
	}
	if !v.isFile(file{name: name, want: want}, proof.File{SHA256: sha256.Sum256(data), Size: int64(len(data))}, 0) {
		return nil, nil
	}
	v.count(&v.result.Files)
	return data, nil
}

// short is the beginning of a digest, for sentences; findings have the whole one.
func short(d proof.Digest) string { return d.String()[:12] }

// isFile compares a file with what the proof says of it.
func (v *outputs) isFile(f file, got proof.File, place int) bool {
	name, want := f.name, f.want
	if got.SHA256 == want.SHA256 && (want.Size < 0 || got.Size == want.Size) {
		return true
	}
	says := fmt.Sprintf("The file %s%s does not have its digest: it has %s, and %s is recorded.", name, f.of,
		short(got.SHA256), short(want.SHA256))
	if got.SHA256 == want.SHA256 {
		says = fmt.Sprintf("The file %s has %d bytes, and %d are recorded.", name, got.Size, want.Size)
	}
	v.isFalse(Finding{Of: OfFile, File: name, Recorded: &want.SHA256, Repeated: &got.SHA256, Says: says,
		place: place})
	return false
}

// compareFile compares a file, of any size, with its digest; a size below 0 is not known. place is for the order.
func (v *outputs) compareFile(ctx context.Context, f file, place int) error {
	got, err := v.digestOf(ctx, f.name)
	if err != nil {
		return v.unread(f.name, err)
	}
	if v.isFile(f, got, place) {
		v.count(&v.result.Files)
	}
	return nil
}

// digestOf digests a file of any size.
func (v *outputs) digestOf(ctx context.Context, name string) (proof.File, error) {
	body, _, err := v.store.Get(ctx, v.prefix+name, objstore.GetOptions{})
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

// readArrays reads arrays that are kept under their digest. If they are missing or other ones, that is noted, and they
// are nil.
func (v *outputs) readArrays(ctx context.Context, name string, digest proof.Digest) (jobs.Arrays, error) {
	data, _, err := objstore.ReadAll(ctx, v.store, v.prefix+name, objstore.GetOptions{}, maxArraysBytes)
	if err != nil {
		return nil, v.unread(name, err)
	}
	if !v.isFile(file{name: name, want: proof.File{SHA256: digest, Size: -1}},
		proof.File{SHA256: sha256.Sum256(data), Size: int64(len(data))}, 0) {
		return nil, nil
	}
	arrays, err := jobs.Decode(data)
	if err != nil {
		return nil, v.contradicts(name, err)
	}
	return arrays, nil
}
