package protocol

import (
	"fmt"
	"strings"
)

// Class is what the cluster does about a fault.
type Class int

const (
	// ClassTask: the task went wrong for a reason not known to repeat (a panic, a
	// bug); tried again a few times, on another worker where there is one.
	ClassTask Class = iota
	// ClassInput: the same input gives the same fault every time (a bad record, a
	// changed object, a bad spec); the job fails at once.
	ClassInput
	// ClassInfrastructure: the world went wrong (store unreachable, worker drained);
	// tried again without being counted.
	ClassInfrastructure
)

// Code is a stable, machine-readable name of a fault.
type Code string

const (
	CodeBadRecord    Code = "BAD_RECORD"     // a record breaks its format, beyond what the spec lets pass
	CodeInputChanged Code = "INPUT_CHANGED"  // an input object is not the one the plan pinned
	CodeInputDamaged Code = "INPUT_DAMAGED"  // an input object has other bytes than its store says
	CodeInputEmpty   Code = "INPUT_EMPTY"    // no object, no record, or no class to learn from
	CodeInputLimit   Code = "INPUT_LIMIT"    // a record, object or decompression ratio beyond its bound
	CodeSpecInvalid  Code = "SPEC_INVALID"   // the spec does not validate
	CodeStateTooBig  Code = "STATE_TOO_BIG"  // a state beyond max_state_bytes
	CodeStoreDenied  Code = "STORE_DENIED"   // the store refuses our credentials
	CodeOutputTaken  Code = "OUTPUT_TAKEN"   // another object has the place of an output in the cluster's store
	CodeStore        Code = "STORE"          // the store is unreachable or faulty
	CodePanic        Code = "PANIC"          // the task panicked
	CodeInternal     Code = "INTERNAL"       // anything else; a bug
	CodeCorrupt      Code = "CORRUPT"        // bytes do not have their digest, or cannot be decoded
	CodeKeyUnusable  Code = "KEY_UNUSABLE"   // a key to sign or check with is not one that can
	CodeDrained      Code = "DRAINED"        // the worker gave the task back
	CodeDeterminism  Code = "DETERMINISM"    // two different digests for one node
	CodeWorkerDied   Code = "WORKER_DIED"    // the task ends the process that works on it
	CodeNoWorkerFits Code = "NO_WORKER_FITS" // the job's state is larger than any worker's memory
	CodeNeedFailed   Code = "NEED_FAILED"    // a job that this one needs did not succeed
	CodeLost         Code = "LOST"           // a job object is missing, or its bytes do not have its digest
)

// Fault is an error with a stable code and, where it has one, a position in the input.
// Line and Column count from 1; 0 means not known. The zero value has no position.
type Fault struct {
	Code   Code
	Class  Class
	Object string // the object it happened to, as key or URI
	Line   int64
	Column int // field number for delimited text
	What   string
	Hint   string // what to do about it
	Err    error
	Lost   *LostObject // the job object that could not be read; of CodeLost
	Record Record      // the record that it happened to, where that is not named by its place; see Of
	offset offset
	vector int // see OfColumn
}

// Record names a record by its id or its row. The zero value names none.
type Record struct {
	ID      string
	Row     int64 // from 0 over the data set
	Counted bool  // Row is known
}

// String begins a sentence about the record.
func (r Record) String() string {
	switch {
	case r.ID != "":
		return fmt.Sprintf("the record with the id %q", r.ID)
	case r.Counted:
		return fmt.Sprintf("row %d", r.Row)
	}
	return ""
}

// offset is a position in bytes, or in rows for a format of fixed rows; the zero value is not known.
type offset struct {
	at    int64
	known bool
}

// LostObject is a job object that is missing, or whose bytes do not have its digest.
type LostObject struct {
	Round  uint32 // that made it; 0 is the plan
	SHA256 [32]byte
	Size   int64
}

// InputFault returns a fault of ClassInput.
func InputFault(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Class: ClassInput, What: fmt.Sprintf(format, args...)}
}

// TaskFault returns a fault of ClassTask.
func TaskFault(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Class: ClassTask, What: fmt.Sprintf(format, args...)}
}

// InfrastructureFault returns a fault of ClassInfrastructure.
func InfrastructureFault(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Class: ClassInfrastructure, What: fmt.Sprintf(format, args...)}
}

// SpecFault returns a fault of the spec: SPEC_INVALID, of ClassInput.
func SpecFault(format string, args ...any) *Fault {
	return InputFault(CodeSpecInvalid, format, args...)
}

// EmptyFault returns a fault of an input with nothing to learn from: INPUT_EMPTY, of ClassInput.
func EmptyFault(format string, args ...any) *Fault {
	return InputFault(CodeInputEmpty, format, args...)
}

// Offset returns the position in the decoded stream, in bytes from 0, and whether it is known.
func (f *Fault) Offset() (at int64, known bool) { return f.offset.at, f.offset.known }

// In returns a copy with an object.
func (f *Fault) In(object string) *Fault {
	g := *f
	g.Object = object
	return &g
}

// At returns a copy with a line and a column.
func (f *Fault) At(line int64, column int) *Fault {
	g := *f
	g.Line, g.Column = line, column
	return &g
}

// WithOffset returns a copy with an offset.
func (f *Fault) WithOffset(at int64) *Fault {
	g := *f
	g.offset = offset{at, true}
	return &g
}

// WithoutOffset returns a copy whose offset is not known.
func (f *Fault) WithoutOffset() *Fault {
	g := *f
	g.offset = offset{}
	return &g
}

// WithHint returns a copy with advice.
func (f *Fault) WithHint(text string) *Fault {
	g := *f
	g.Hint = text
	return &g
}

// Suggest returns a copy that advises the known name nearest to the one given, or f if none is near.
func (f *Fault) Suggest(given string, known []string) *Fault {
	near := Nearest(given, known)
	if near == "" {
		return f
	}
	return f.WithHint(fmt.Sprintf("Did you mean %q?", near))
}

// Of returns a copy that names a record before it says what happened, in place of the record it named before.
func (f *Fault) Of(r Record) *Fault {
	g := *f
	if before := f.Record.String(); before != "" {
		g.What = strings.TrimPrefix(g.What, before+": ")
	}
	if name := r.String(); name != "" {
		g.What = name + ": " + g.What
	}
	g.Record = r
	return &g
}

// OfColumn returns a copy about a column of the vectors, from 1; What calls it "column N" or "value N of the vector".
func (f *Fault) OfColumn(column int) *Fault {
	g := *f
	g.vector = column
	return &g
}

// VectorColumn is the column of the vectors that the fault is about, from 1; 0 where it is about none.
func (f *Fault) VectorColumn() int { return f.vector }

// WithColumnName returns a copy whose What has the name of the column, too: once, however often it is told.
func (f *Fault) WithColumnName(name string) *Fault {
	g, told := *f, fmt.Sprintf(" (%.80q)", name)
	for _, form := range []string{"column %d", "value %d of the vector"} {
		before, after, found := strings.Cut(g.What, fmt.Sprintf(form, f.vector))
		if found && (after == "" || after[0] < '0' || after[0] > '9') {
			g.What = before + fmt.Sprintf(form, f.vector) + told + strings.TrimPrefix(after, told)
			break
		}
	}
	return &g
}

// Because returns a copy with a cause.
func (f *Fault) Because(err error) *Fault {
	g := *f
	g.Err = err
	return &g
}

func (f *Fault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", f.Code)
	if f.Object != "" {
		b.WriteString(f.Object)
		b.WriteString(f.position())
		b.WriteString(": ")
	}
	b.WriteString(f.What)
	if f.Err != nil {
		fmt.Fprintf(&b, ": %v", f.Err)
	}
	if f.Hint != "" {
		if !strings.HasSuffix(b.String(), "?") {
			b.WriteString(".")
		}
		b.WriteString(" " + f.Hint)
	}
	return b.String()
}

func (f *Fault) position() string {
	var b strings.Builder
	if f.Line > 0 {
		fmt.Fprintf(&b, ", line %d", f.Line)
	}
	if f.Column > 0 {
		fmt.Fprintf(&b, ", column %d", f.Column)
	}
	if f.offset.known {
		fmt.Fprintf(&b, " (byte %d)", f.offset.at)
	}
	return b.String()
}

func (f *Fault) Unwrap() error { return f.Err }
