package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gram-compute/gram/protocol"
)

// ledger collects what a check finds, and counts. Its methods may be called at the same time.
type ledger struct {
	result *Result
	hear   func(Progress) // nil: nobody

	mu       sync.Mutex // guards what follows, and the counts and findings of result
	told     map[string]bool
	progress Progress
}

// isFalse notes what does not match.
func (v *ledger) isFalse(f Finding) { v.note(&v.result.False, f) }

// isMissing notes what could not be looked at.
func (v *ledger) isMissing(f Finding) { v.note(&v.result.Missing, f) }

func (v *ledger) note(list *[]Finding, f Finding) {
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
		if f.isNode() {
			(*list)[maxFindings-1] = f // Result.FalseKind must see that a node is false, however many files are
		}
		return
	}
	*list = append(*list, f)
}

// order sorts the findings: files as they are read, then nodes by round, tree and post-order, and the step.
func (v *ledger) order() {
	for _, list := range [][]Finding{v.result.False, v.result.Missing} {
		slices.SortStableFunc(list, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.place, b.place), cmp.Compare(a.File, b.File))
		})
	}
}

func (v *ledger) count(c *Count) {
	v.mu.Lock()
	defer v.mu.Unlock()
	c.Done++
}

func (v *ledger) expect(c *Count, n int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	c.Of += n
}

// stage begins a stage of the progress.
func (v *ledger) stage(name, unit string, total int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.progress = Progress{Stage: name, Total: total, Unit: unit}
	v.show()
}

// advance goes one further in the stage.
func (v *ledger) advance() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.progress.Done++
	v.show()
}

func (v *ledger) show() {
	if v.hear != nil {
		v.hear(v.progress)
	}
}

// contradicts finds a file that has its digest and cannot be right.
func (v *ledger) contradicts(file string, err error) error {
	v.isFalse(Finding{Of: OfRecord, File: file, Says: file + " cannot be right: " + err.Error() + "."})
	return nil
}

// ended reports whether an error is that of a context, which ends the check.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// failed notes why something could not be repeated: the input or this build may lack what it takes, or else the job
// could not have done it either. place says where; err is the context's, or nil.
func (v *ledger) failed(f Finding, err error) error {
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
		v.isMissing(inputMissing(fault.Object, fault))
	default:
		f.Says += fmt.Sprintf(": repeating it fails: %v.", fault.WithHint(""))
		v.isFalse(f)
	}
	return nil
}

// inputMissing is a finding of input that cannot be read as it was planned. A fault advises the one who runs jobs; this
// advises the one who checks one.
func inputMissing(object string, err error) Finding {
	f := Finding{Of: OfInput, File: object, Says: fmt.Sprintf("Input is missing: %v.", err)}
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		f.Says = fmt.Sprintf("Input is missing: %v.", fault.WithHint(""))
		switch fault.Code {
		case protocol.CodeInputChanged, protocol.CodeInputDamaged:
			f.Says += " Restore the object that was planned, or ask the owner of the data for it. On a disk a copy has " +
				"another ETag."
		case protocol.CodeStoreDenied:
			f.Says += " Check the URI, and that this process may read it."
		case protocol.CodeStore, protocol.CodeLost:
			f.Says += " Check again when the store answers."
		}
	}
	return f
}
