// Package exit maps errors to the exit codes of gram and to what people read: what failed, why, and
// what to do about it.
package exit

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/listen"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/worker"
)

// Exit codes; docs/cli.md tells them to people.
const (
	OK          = 0   // done; or all jobs waited for succeeded
	Failed      = 1   // the job failed, or an error not listed here
	Usage       = 2   // bad usage, or a spec that does not validate
	NotFound    = 3   // no such job, schedule, model, alias, token, member or result
	Denied      = 4   // not authenticated, not allowed, or the server is not the one we trust
	Conflict    = 5   // the id, file or name is in use for something else
	NoRoom      = 6   // quota, or a queue that is full
	Unreachable = 7   // cluster not reachable, or no leader
	Cancelled   = 8   // the job was cancelled
	Damaged     = 9   // files damaged or lost; a job is not what its proof says; invalid signature; results differ
	Missing     = 10  // nothing that was checked is false, but something is missing, such as a signature
	Timeout     = 124 // --timeout passed; the job goes on
	Interrupted = 130 // Ctrl-C
)

// Failure is an error with its exit code and, for people, what, why and what to do.
type Failure struct {
	Code  int
	What  string
	Why   error // the reason, as people read it
	Hint  string
	Cause error // what it was made of, for errors.As; nil means why
}

func (f *Failure) Error() string {
	if f.Why == nil {
		return f.What
	}
	return fmt.Sprintf("%s: %v", f.What, f.Why)
}

func (f *Failure) Unwrap() error {
	if f.Cause != nil {
		return f.Cause
	}
	return f.Why
}

// Of finds or makes the failure of an error.
func Of(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	var fault *protocol.Fault
	if errors.As(err, &fault) && fault.Code == protocol.CodeSpecInvalid {
		return &Failure{Code: Usage, What: "the spec does not validate", Why: errors.New(fault.What), Hint: fault.Hint}
	}
	if errors.Is(err, node.ErrDamaged) || errors.Is(err, node.ErrDiverged) {
		return &Failure{Code: Damaged, What: err.Error(), Cause: err}
	}
	var refused *connect.Error
	if errors.Is(err, worker.ErrDenied) {
		f := &Failure{Code: Denied, What: worker.ErrDenied.Error(), Cause: err}
		if errors.As(err, &refused) {
			f.Why = errors.New(refused.Message())
		}
		return f
	}
	if errors.As(err, &refused) {
		return OfCall("the cluster", refused)
	}
	if errors.Is(err, context.Canceled) {
		return &Failure{Code: Interrupted, What: "interrupted"}
	}
	if errors.Is(err, objstore.ErrNotFound) {
		return &Failure{Code: NotFound, What: err.Error(), Cause: err}
	}
	if errors.Is(err, objstore.ErrDenied) {
		return &Failure{Code: Denied, What: err.Error(), Cause: err}
	}
	return &Failure{Code: Failed, What: err.Error()}
}

// OfCall turns the error of a call into a failure.
func OfCall(addr string, err error) *Failure {
	f := callFailure(addr, err)
	f.Cause = err
	return f
}

func callFailure(addr string, err error) *Failure {
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return &Failure{Code: Denied, What: addr + " is not trusted", Why: untrusted.Err,
			Hint: "Name the cluster's authority with --cacert, GRAM_CACERT or the context's cacert."}
	}
	var refused *connect.Error
	if !errors.As(err, &refused) {
		return &Failure{Code: Failed, What: addr, Why: err}
	}
	if refused.Meta().Get(listen.ReasonHeader) == listen.ReasonNoLeader {
		return &Failure{Code: Unreachable, What: addr + " answers, but decides nothing",
			Why: errors.New(refused.Message()),
			Hint: "Bring back the coordinators that are down, with their data directories; docs/operations.md tells " +
				"what to do when most are lost."}
	}
	if NoAnswer(refused) {
		return &Failure{Code: Unreachable, What: addr + " is not reachable", Why: errors.New(refused.Message()),
			Hint: "Is it running? `gram dev` starts a cluster here; --addr or a context names another."}
	}
	f := &Failure{Code: Failed, What: refused.Message()}
	switch refused.Code() {
	case connect.CodeNotFound:
		f.Code, f.Hint = NotFound, "`gram list` shows the jobs that are there."
		switch {
		case strings.HasPrefix(f.What, "no schedule "):
			f.Hint = "`gram schedule list` shows the schedules that are there."
		case strings.HasPrefix(f.What, gate.ErrUnknownPath.Error()):
			f.Hint = "The coordinator does not know this call: it may be older than this gram."
		}
	case connect.CodeInvalidArgument:
		f.Code = Usage
	case connect.CodeUnauthenticated:
		f.Code = Denied
		f.Hint = "The token comes from --token-file, GRAM_TOKEN, GRAM_TOKEN_FILE or the context."
	case connect.CodePermissionDenied:
		f.Code = Denied
	case connect.CodeAlreadyExists:
		f.Code, f.Hint = Conflict, "Choose another --id, or leave it out."
		f.What = strings.TrimSuffix(f.What, "; choose another id") // the hint says it
	case connect.CodeResourceExhausted:
		f.Code = NoRoom
	case connect.CodeFailedPrecondition: // refused as things stand: the message says why, and what to do
	default:
		f.What = fmt.Sprintf("%s answered: %s (%s)", addr, refused.Message(), refused.Code())
	}
	return f
}

// NoAnswer reports whether a call failed for want of a connection or a leader, and not
// by an answer: what the library calls a protocol error is a stream that broke off.
func NoAnswer(err *connect.Error) bool {
	switch err.Code() {
	case connect.CodeUnavailable:
		return true
	case connect.CodeUnauthenticated, connect.CodePermissionDenied, connect.CodeNotFound, connect.CodeUnimplemented:
		return false // also what a proxy on the way answers
	}
	return !connect.IsWireError(err)
}

// AsUsage is the failure of a file that cannot be read or does not validate.
func AsUsage(err error) error {
	f := Of(err)
	if f.Code == Failed {
		f = &Failure{Code: Usage, What: f.What, Why: f.Why, Hint: f.Hint, Cause: err}
	}
	return f
}

// WithoutSpec is for what a kind refuses of options or of a model where there is no spec.
func WithoutSpec(err error, code int) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) && fault.Code == protocol.CodeSpecInvalid {
		return &Failure{Code: code, What: fault.What, Hint: fault.Hint, Cause: err}
	}
	return err
}
