package verify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// isFalse notes what does not match.
func (v *verifier) isFalse(f Finding) { v.note(&v.result.False, f) }

// isMissing notes what could not be looked at.
func (v *verifier) isMissing(f Finding) { v.note(&v.result.Missing, f) }

func (v *verifier) note(list *[]Finding, f Finding) {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := f.Says
	if f.Of == OfInput {
		key = "input " + f.File // once, however many leaves want it
	}
	if v.told[key] {
		return
	}
	v.told[key] = true
	if len(*list) == maxFindings {
		v.result.More++
		return
	}
	*list = append(*list, f)
}

// order sorts the findings: files as they are read, then nodes by round, tree and post-order, and the step.
func (v *verifier) order() {
	for _, list := range [][]Finding{v.result.False, v.result.Missing} {
		slices.SortStableFunc(list, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.place, b.place), cmp.Compare(a.File, b.File))
		})
	}
}

func (v *verifier) count(c *Count) {
	v.mu.Lock()
	defer v.mu.Unlock()
	c.Done++
}

func (v *verifier) expect(c *Count, n int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	c.Of += n
}

// stage begins a stage of the progress.
func (v *verifier) stage(name, unit string, total int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.progress = Progress{Stage: name, Total: total, Unit: unit}
	v.show()
}

// advance goes one further in the stage.
func (v *verifier) advance() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.progress.Done++
	v.show()
}

func (v *verifier) show() {
	if v.cfg.Progress != nil {
		v.cfg.Progress(v.progress)
	}
}

// read reads a file beside the model. One that is missing or cannot be read is noted, and nil.
func (v *verifier) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	data, _, err := objstore.ReadAll(ctx, v.cfg.Store, v.cfg.Prefix+name, objstore.GetOptions{}, limit)
	if err != nil {
		return nil, v.unread(name, err)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// unread notes a file that could not be read; the error is the context's.
func (v *verifier) unread(name string, err error) error {
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

// ended reports whether an error is that of a context, which ends the check.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// readFile reads a file and compares it with its digest. If it is missing or another one, that is noted, and it is nil.
func (v *verifier) readFile(ctx context.Context, name string, want proof.File, limit int64) ([]byte, error) {
	data, err := v.read(ctx, name, limit)
	if data == nil || err != nil {
		return nil, err
	}
	v.expect(&v.result.Files, 1)
	if !v.isFile(file{name: name, want: want}, proof.File{SHA256: sha256.Sum256(data), Size: int64(len(data))}, 0) {
		return nil, nil
	}
	v.count(&v.result.Files)
	return data, nil
}

// short is the beginning of a digest, for sentences; findings have the whole one.
func short(d proof.Digest) string { return d.String()[:12] }

// isFile compares a file with what the proof says of it.
func (v *verifier) isFile(f file, got proof.File, place int) bool {
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
func (v *verifier) compareFile(ctx context.Context, f file, place int) error {
	body, _, err := v.cfg.Store.Get(ctx, v.cfg.Prefix+f.name, objstore.GetOptions{})
	if err != nil {
		return v.unread(f.name, err)
	}
	defer body.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, body)
	if err != nil {
		return v.unread(f.name, err)
	}
	if v.isFile(f, proof.File{SHA256: proof.Digest(sum.Sum(nil)), Size: n}, place) {
		v.count(&v.result.Files)
	}
	return nil
}

// failed notes why something could not be repeated: the input or this build may lack what it takes, or else the job
// could not have done it either. place says where; err is the context's, or nil.
func (v *verifier) failed(f Finding, err error) error {
	if ended(err) {
		return err
	}
	fault, ok := errors.AsType[*protocol.Fault](err)
	if !ok {
		f.Says += fmt.Sprintf(": repeating it fails: %v.", err)
		v.isFalse(f)
		return nil
	}
	switch fault.Code {
	case protocol.CodeInputChanged, protocol.CodeInputDamaged, protocol.CodeStoreDenied, protocol.CodeStore,
		protocol.CodeLost:
		v.isMissing(Finding{Of: OfInput, File: fault.Object, Says: "Input is missing: " + fault.Error() + "."})
	default:
		f.Says += fmt.Sprintf(": repeating it fails: %v.", fault)
		v.isFalse(f)
	}
	return nil
}
