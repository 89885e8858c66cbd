package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/cobra"
)

// Exit codes; docs/cli.md tells them to people.
const (
	exitOK          = 0   // done; or all jobs waited for succeeded
	exitFailed      = 1   // the job failed, or an error not listed here
	exitUsage       = 2   // bad usage, or a spec that does not validate
	exitNotFound    = 3   // no such job, schedule, model, alias, token, member or result
	exitDenied      = 4   // not authenticated, not allowed, or the server is not the one we trust
	exitConflict    = 5   // the id, file or name is in use for something else
	exitNoRoom      = 6   // quota, or a queue that is full
	exitUnreachable = 7   // cluster not reachable, or no leader
	exitCancelled   = 8   // the job was cancelled
	exitDamaged     = 9   // files of a coordinator's data directory are damaged or lost
	exitTimeout     = 124 // --timeout passed; the job goes on
	exitInterrupted = 130 // Ctrl-C
)

// failure is an error with its exit code and, for people, what, why and what to do.
type failure struct {
	code  int
	what  string
	why   error // the reason, as people read it
	hint  string
	cause error // what it was made of, for errors.As; nil means why
}

func (f *failure) Error() string {
	if f.why == nil {
		return f.what
	}
	return fmt.Sprintf("%s: %v", f.what, f.why)
}

func (f *failure) Unwrap() error {
	if f.cause != nil {
		return f.cause
	}
	return f.why
}

// explain finds or makes the failure of an error.
func explain(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	var fault *protocol.Fault
	if errors.As(err, &fault) && fault.Code == protocol.CodeSpecInvalid {
		return &failure{code: exitUsage, what: "the spec does not validate", why: errors.New(fault.What), hint: fault.Hint}
	}
	if errors.Is(err, node.ErrDamaged) || errors.Is(err, node.ErrDiverged) {
		return &failure{code: exitDamaged, what: err.Error(), cause: err}
	}
	var refused *connect.Error
	if errors.Is(err, worker.ErrDenied) {
		f := &failure{code: exitDenied, what: worker.ErrDenied.Error(), cause: err}
		if errors.As(err, &refused) {
			f.why = errors.New(refused.Message())
		}
		return f
	}
	if errors.As(err, &refused) {
		return explainCall("the cluster", refused)
	}
	if errors.Is(err, context.Canceled) {
		return &failure{code: exitInterrupted, what: "interrupted"}
	}
	if errors.Is(err, objstore.ErrNotFound) {
		return &failure{code: exitNotFound, what: err.Error(), cause: err}
	}
	if errors.Is(err, objstore.ErrDenied) {
		return &failure{code: exitDenied, what: err.Error(), cause: err}
	}
	return &failure{code: exitFailed, what: err.Error()}
}

// explainCall turns the error of a call into a failure.
func explainCall(addr string, err error) *failure {
	f := callFailure(addr, err)
	f.cause = err
	return f
}

func callFailure(addr string, err error) *failure {
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return &failure{code: exitDenied, what: addr + " is not trusted", why: untrusted.Err,
			hint: "Name the cluster's authority with --cacert, GRAM_CACERT or the context's cacert."}
	}
	var refused *connect.Error
	if !errors.As(err, &refused) {
		return &failure{code: exitFailed, what: addr, why: err}
	}
	if refused.Meta().Get(coordinator.ReasonHeader) == coordinator.ReasonNoLeader {
		return &failure{code: exitUnreachable, what: addr + " answers, but decides nothing", why: errors.New(refused.Message()),
			hint: "Bring back the coordinators that are down, with their data directories; docs/operations.md tells what to do when most are lost."}
	}
	if lost(refused) {
		return &failure{code: exitUnreachable, what: addr + " is not reachable", why: errors.New(refused.Message()),
			hint: "Is it running? `gram dev` starts a cluster here; --addr or a context names another."}
	}
	f := &failure{code: exitFailed, what: refused.Message()}
	switch refused.Code() {
	case connect.CodeNotFound:
		f.code, f.hint = exitNotFound, "`gram list` shows the jobs that are there."
		switch {
		case strings.HasPrefix(f.what, "no schedule "):
			f.hint = "`gram schedule list` shows the schedules that are there."
		case strings.HasPrefix(f.what, gate.ErrUnknownPath.Error()):
			f.hint = "The coordinator does not know this call: it may be older than this gram."
		}
	case connect.CodeInvalidArgument:
		f.code = exitUsage
	case connect.CodeUnauthenticated:
		f.code = exitDenied
		f.hint = "The token comes from --token-file, GRAM_TOKEN, GRAM_TOKEN_FILE or the context."
	case connect.CodePermissionDenied:
		f.code = exitDenied
	case connect.CodeAlreadyExists:
		f.code, f.hint = exitConflict, "Choose another --id, or leave it out."
		f.what = strings.TrimSuffix(f.what, "; choose another id") // the hint says it
	case connect.CodeResourceExhausted:
		f.code = exitNoRoom
	case connect.CodeFailedPrecondition: // refused as things stand: the message says why, and what to do
	default:
		f.what = fmt.Sprintf("%s answered: %s (%s)", addr, refused.Message(), refused.Code())
	}
	return f
}

// lost reports whether a call failed for want of a connection or a leader, and not
// by an answer: what the library calls a protocol error is a stream that broke off.
func lost(err *connect.Error) bool {
	switch err.Code() {
	case connect.CodeUnavailable:
		return true
	case connect.CodeUnauthenticated, connect.CodePermissionDenied, connect.CodeNotFound, connect.CodeUnimplemented:
		return false // also what a proxy on the way answers
	}
	return !connect.IsWireError(err)
}

// usageError is an error of the command line itself.
func usageError(err error, root *cobra.Command, args []string) error {
	var own *failure
	if errors.As(err, &own) {
		return own
	}
	cmd, _, findErr := root.Find(args)
	if rest, ok := strings.CutPrefix(err.Error(), "unknown command "); ok && findErr != nil {
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			word, _ := strconv.Unquote(quoted) // a prefix that is quoted can be unquoted
			return unknownVerb(root, word)
		}
	}
	if findErr != nil || cmd == nil {
		cmd = root
	}
	return &failure{code: exitUsage, what: err.Error(), hint: fmt.Sprintf("`%s --help` shows how.", cmd.CommandPath())}
}

// outcome is what the end of a job means for the exit code; nil when it succeeded.
func outcome(job *gramv1.Job) error {
	switch job.GetState() {
	case gramv1.JobState_JOB_STATE_SUCCEEDED:
		return nil
	case gramv1.JobState_JOB_STATE_CANCELLED:
		return &failure{code: exitCancelled, what: "job " + job.GetId() + " was cancelled"}
	}
	f := &failure{code: exitFailed, what: "job " + job.GetId() + " failed"}
	if cause := job.GetFailure(); cause != nil {
		f.why = errors.New(failureText(cause))
		f.hint = "`gram logs " + job.GetId() + "` shows what led to it."
	}
	return f
}

func failureText(cause *gramv1.Failure) string {
	text := cause.GetMessage()
	if !strings.HasPrefix(text, cause.GetCode()) {
		text = cause.GetCode() + ": " + text
	}
	if cause.GetTask() != "" {
		text += " (task " + cause.GetTask()
		if cause.GetWorker() != "" {
			text += " on " + cause.GetWorker()
		}
		text += ")"
	}
	return text
}
