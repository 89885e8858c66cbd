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
	noted    map[string]bool
	progress Progress
}

func newLedger(hear func(Progress)) *ledger {
	return &ledger{result: &Result{False: []Finding{}, Missing: []Finding{}, Says: []string{}}, hear: hear,
		noted: map[string]bool{}}
}

// noteFalse adds a finding of what does not match.
func (l *ledger) noteFalse(f Finding) { l.note(&l.result.False, f) }

// noteMissing adds a finding of what could not be checked.
func (l *ledger) noteMissing(f Finding) { l.note(&l.result.Missing, f) }

// note adds a finding, once.
func (l *ledger) note(list *[]Finding, f Finding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := f.Says
	if f.Of == OfInput {
		key = "input " + f.File // once, however many leaves want it
	}
	if l.noted[key] {
		return
	}
	l.noted[key] = true
	if len(*list) == maxFindings {
		l.result.More++
		if f.isNode() {
			(*list)[maxFindings-1] = f // Result.FalseKind must see that a node is false, however many files are
		}
		return
	}
	*list = append(*list, f)
}

// order sorts the findings: files as they are read, then nodes by round, tree and post-order, and the step.
func (l *ledger) order() {
	for _, list := range [][]Finding{l.result.False, l.result.Missing} {
		slices.SortStableFunc(list, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.place, b.place), cmp.Compare(a.File, b.File))
		})
	}
}

func (l *ledger) count(c *Count) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.Done++
}

func (l *ledger) expect(c *Count, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.Of += n
}

// stage begins a stage of the progress.
func (l *ledger) stage(name, unit string, total int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.progress = Progress{Stage: name, Total: total, Unit: unit}
	l.show()
}

// advance goes one further in the stage.
func (l *ledger) advance() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.progress.Done++
	l.show()
}

func (l *ledger) show() {
	if l.hear != nil {
		l.hear(l.progress)
	}
}

// contradicts finds a file that has its digest and cannot be right.
func (l *ledger) contradicts(file string, err error) error {
	l.noteFalse(Finding{Of: OfRecord, File: file, Says: file + " cannot be right: " + err.Error() + "."})
	return nil
}

// ended reports whether an error is that of a context, which ends the check.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// failed notes why something could not be repeated: the input or this build may lack what it takes, or else the job
// could not have done it either. place says where; err is the context's, or nil.
func (l *ledger) failed(f Finding, err error) error {
	if ended(err) {
		return err
	}
	fault, ok := errors.AsType[*protocol.Fault](err)
	if !ok {
		f.Says += fmt.Sprintf(": repeating it fails: %v.", err)
		l.noteFalse(f)
		return nil
	}
	switch fault.Code {
	case protocol.CodeInputChanged, protocol.CodeInputDamaged, protocol.CodeStoreDenied, protocol.CodeStore,
		protocol.CodeLost:
		l.noteMissing(inputMissing(fault.Object, fault))
	default:
		f.Says += fmt.Sprintf(": repeating it fails: %v.", fault.WithHint(""))
		l.noteFalse(f)
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
