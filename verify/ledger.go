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
		v.isMissing(Finding{Of: OfInput, File: fault.Object, Says: "Input is missing: " + fault.Error() + "."})
	default:
		f.Says += fmt.Sprintf(": repeating it fails: %v.", fault)
		v.isFalse(f)
	}
	return nil
}
