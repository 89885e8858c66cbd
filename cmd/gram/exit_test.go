package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker"
)

// Every code of the table in docs/cli.md, from a real server where it has one to do with it.
func TestExitCodes(t *testing.T) {
	refuse := func(code connect.Code) *backend {
		err := connect.NewError(code, errors.New("refused"))
		return &backend{
			get:    func(string) (*gramv1.Job, error) { return nil, err },
			submit: func(*gramv1.SubmitRequest) (*gramv1.SubmitResponse, error) { return nil, err },
			list:   func(*gramv1.ListRequest) (*gramv1.ListResponse, error) { return nil, err },
		}
	}
	for _, c := range []struct {
		name    string
		backend *backend
		args    string
		code    int
		says    string
	}{
		{"success", &backend{watch: ends(succeeded)}, "wait a", 0, ""},
		{"job failed", &backend{watch: ends(failed)}, "wait a", 1, "job a failed"},
		{"unknown flag", nil, "status --fast", 2, "unknown flag: --fast"},
		{"unknown verb", nil, "stauts", 2, "Did you mean `gram status`?"},
		{"unknown verb of a group", nil, "model shwo", 2, "Did you mean `gram model show`?"},
		{"missing flag", nil, "submit", 2, "gram submit wants --file (-f)"},
		{"nothing to plan", nil, "plan", 2, "gram plan wants --file (-f)"},
		{"workers of a plan without times", nil, "plan -f SPEC --workers 4", 2, "--from"},
		{"missing flag of a role", nil, "coordinator", 2, "`gram coordinator --help`"},
		{"negative slots", nil, "run -f SPEC --slots -1", 2, "--slots -1 is not in the range 0 to 4096"},
		{"absurd slots", nil, "run -f SPEC --slots 100000", 2, "0 to 4096"},
		{"negative slots of a worker", nil, "worker --addr h:1 --slots -1", 2, "0 to 4096"},
		{"negative slots of dev", nil, "dev --slots -1", 2, "0 to 4096"},
		{"negative workers of dev", nil, "dev --workers -1", 2, "--workers -1"},
		{"missing argument", nil, "wait", 2, "name a job: gram wait JOB..."},
		{"unknown output", nil, "list -o yaml", 2, "known: table, json"},
		{"unknown state", &backend{}, "list --state runing", 2, `Did you mean "running"?`},
		{"missing spec", nil, "submit -f absent.yaml", 2, "absent.yaml"},
		{"server refuses spec", refuse(connect.CodeInvalidArgument), "submit -f SPEC", 2, "refused"},
		{"not found", refuse(connect.CodeNotFound), "status a", 3, "gram list"},
		{"not allowed", refuse(connect.CodePermissionDenied), "submit -f SPEC", 4, "refused"},
		{"conflict", refuse(connect.CodeAlreadyExists), "submit -f SPEC --id a", 5, "another --id"},
		{"no room", refuse(connect.CodeResourceExhausted), "submit -f SPEC", 6, "refused"},
		{"no leader", refuse(connect.CodeUnavailable), "list", 7, "not reachable"},
		{"no leader, repeated", refuse(connect.CodeUnavailable), "submit -f SPEC", 7, "retrying for"},
		{"cancelled", &backend{watch: ends(cancelled)}, "wait a", 8, "was cancelled"},
		{"server fault", refuse(connect.CodeInternal), "list", 1, "(internal)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := newClient(t)
			if c.backend != nil {
				client.to(serveOn(t, c.backend, "127.0.0.1:0"))
			}
			args := strings.Fields(c.args)
			for i := range args {
				if args[i] == "SPEC" {
					args[i] = client.writeSpec(validSpec)
				}
			}
			client.want(c.code, client.run(args...))
			if !strings.Contains(client.stderr.String(), c.says) {
				t.Errorf("stderr lacks %q:\n%s", c.says, client.stderr)
			}
		})
	}
}

func TestExitCodeWrongToken(t *testing.T) {
	c := clientOf(t, &backend{})
	c.env["GRAM_TOKEN"] = "another"
	c.want(exit.Denied, c.run("list"))
	if !strings.Contains(c.stderr.String(), "GRAM_TOKEN_FILE") {
		t.Errorf("stderr does not say where tokens come from:\n%s", c.stderr)
	}
}

func TestWorkerWithAnotherTokenIsToldWhichToUse(t *testing.T) {
	refused := connect.NewError(connect.CodePermissionDenied, errors.New("this token is for people"))
	f := exit.Of(fmt.Errorf("%w: %w", worker.ErrDenied, refused))
	if f.Code != exit.Denied || !strings.Contains(f.What, "worker.token") ||
		fmt.Sprint(f.Why) != "this token is for people" {
		t.Errorf("%+v", f)
	}
}

// A server with a certificate of an authority we do not trust gets no token, and
// waiting for it would be waiting for nothing.
func TestExitCodeUntrustedServer(t *testing.T) {
	c := clientOf(t, &backend{watch: ends(succeeded)})
	delete(c.env, "GRAM_CACERT")
	c.want(exit.Denied, c.run("wait", "a"))
	if !strings.Contains(c.stderr.String(), "--cacert") || strings.Contains(c.stderr.String(), "retrying") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
}

func TestExitCodeNothingListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t)
	c.env["GRAM_ADDR"], c.env["GRAM_TOKEN"] = listener.Addr().String(), testToken
	listener.Close()
	c.want(exit.Unreachable, c.run("status"))
	c.want(exit.Unreachable, c.run("wait", "a"))
	if !strings.Contains(c.stderr.String(), "gram dev") {
		t.Errorf("stderr does not say what to do:\n%s", c.stderr)
	}
}

func TestExitCodeNoCluster(t *testing.T) {
	c := newClient(t)
	c.want(exit.Usage, c.run("list"))
	if !strings.Contains(c.stderr.String(), "no cluster is configured") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	c := clientOf(t, &backend{list: func(*gramv1.ListRequest) (*gramv1.ListResponse, error) {
		return &gramv1.ListResponse{Jobs: []*gramv1.Job{jobIn("a", running)}}, nil
	}})
	c.app.out = full{}
	c.want(exit.Failed, c.run("list"))
	if !strings.Contains(c.stderr.String(), "no space left") {
		t.Errorf("stderr:\n%s", c.stderr)
	}
}

// An error takes three lines: what, why, what to do.
func TestFailureNamesTaskWorkerAndCause(t *testing.T) {
	job := jobIn("a", failed)
	job.Failure = &gramv1.Failure{Code: "BAD_RECORD", Message: "BAD_RECORD: x.tsv, line 3: 1 field", Task: "node 0/0",
		Worker: "w3"}
	got := fmt.Sprint(show.Outcome(job))
	if want := "job a failed: BAD_RECORD: x.tsv, line 3: 1 field (task node 0/0 on w3)"; got != want {
		t.Errorf("failure %q, want %q", got, want)
	}
}
