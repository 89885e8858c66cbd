package worker

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/faulty"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// outputJob is a job whose outputs go into store: the cluster's own, or a place that a user named.
func outputJob(store objstore.Store, place string) *job {
	w := &worker{store: store, storeAt: "mem://m", cfg: Config{
		Logger:    slog.New(slog.NewTextHandler(io.Discard, nil)),
		OpenStore: func(context.Context, string) (objstore.Store, error) { return store, nil },
	}}
	j := &job{w: w, id: "a"}
	j.spec.Spec.Output.URI = place
	j.output = newOutput(w, j.id, j.spec)
	return j
}

// Below the cluster's prefix an output never replaces other bytes: they may be another cluster's model. The same
// bytes are another attempt's, or this one's after a lost reply. Reports are made anew, and a user's own place is as
// it was.
func TestOutputsReplaceNothing(t *testing.T) {
	const model = "models/a/model.safetensors"
	for _, c := range []struct {
		name, place, there, data string
		attempts                 again
		rules                    []faulty.Rule
		taken                    bool
	}{
		{name: "nothing is there", data: "ours"},
		{name: "the same bytes", there: "ours", data: "ours"},
		{name: "a lost reply", data: "ours",
			rules: []faulty.Rule{{Op: faulty.Put, Times: 1, LostReply: true, Err: objstore.ErrExists}}},
		{name: "other bytes", there: "theirs", data: "ours", taken: true},
		{name: "as many other bytes", there: "xxxx", data: "ours", taken: true},
		{name: "a report of an earlier attempt", there: "theirs", data: "ours", attempts: otherBytes},
		{name: "a user's place", place: "mem://m/models/", there: "theirs", data: "ours"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := mem.New("m")
			if c.there != "" {
				if _, err := store.Put(t.Context(), model, []byte(c.there)); err != nil {
					t.Fatal(err)
				}
			}
			j := outputJob(faulty.Wrap(store, c.rules...), c.place)
			file, err := j.output.write(t.Context(), "model.safetensors", []byte(c.data), c.attempts)
			want := c.data
			if c.taken {
				want = c.there
				fault, ok := errors.AsType[*protocol.Fault](err)
				if !ok || fault.Code != protocol.CodeOutputTaken || fault.Class != protocol.ClassInput ||
					!strings.HasSuffix(fault.Object, model) {
					t.Errorf("%+v, %v", file, err)
				}
			} else if err != nil {
				t.Errorf("%v", err)
			}
			got, _, err := objstore.ReadAll(t.Context(), store, model, objstore.GetOptions{}, 100)
			if err != nil || string(got) != want {
				t.Errorf("%q is there, %v; want %q", got, err, want)
			}
		})
	}
}

// A worker refuses a store that is not its cluster's, as a folder of the same name on another machine.
func TestWorkerChecksWhoseTheStoreIs(t *testing.T) {
	for owner, refused := range map[string]bool{"": false, "ours": false, "theirs": true} {
		store := mem.New("m")
		if owner != "" {
			if err := objstore.Own(t.Context(), store, owner); err != nil {
				t.Fatal(err)
			}
		}
		w := outputJob(store, "").w
		w.store = nil
		err := w.registered(t.Context(),
			&pb.RegisterResponse{StoreUri: "mem://m", ClusterId: "ours", LeaseTtlMs: 1000, HeartbeatMs: 100})
		if refused != errors.Is(err, objstore.ErrOwned) || !refused && err != nil {
			t.Errorf("owner %q: %v", owner, err)
		}
	}
}

// leases is a coordinator that answers heartbeats: all tasks are lost, or none, or it is silent.
type leases struct {
	gramv1connect.WorkerServiceClient
	lost, silent bool
}

func (l leases) Heartbeat(
	_ context.Context, req *connect.Request[pb.HeartbeatRequest],
) (*connect.Response[pb.HeartbeatResponse], error) {
	res := &pb.HeartbeatResponse{}
	for _, h := range req.Msg.GetHeld() {
		if l.lost {
			res.Lost = append(res.Lost, h.GetId())
		}
	}
	if l.silent {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("silent"))
	}
	return connect.NewResponse(res), nil
}

// A worker replaces a phase's file that has other bytes only while the task is leased to it.
func TestEmittedFilesAreReplaced(t *testing.T) {
	const part = "models/a/parts/0.csv"
	for name, c := range map[string]struct {
		there string
		from  leases
		want  string
	}{
		"nothing is there":                {"", leases{silent: true}, "ours"},
		"the same bytes":                  {"ours", leases{silent: true}, "ours"},
		"other bytes":                     {"theirs", leases{}, "ours"},
		"other bytes, and a lost lease":   {"theirs", leases{lost: true}, "theirs"},
		"other bytes, and nobody answers": {"theirs", leases{silent: true}, "theirs"},
	} {
		t.Run(name, func(t *testing.T) {
			store := mem.New("m")
			if c.there != "" {
				if _, err := store.Put(t.Context(), part, []byte(c.there)); err != nil {
					t.Fatal(err)
				}
			}
			j := outputJob(store, "")
			j.w.cfg.Client, j.w.held, j.w.ttl = c.from, map[string]*heldTask{}, time.Hour
			j.w.renewed = time.Now()
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			j.w.hold(&pb.Task{Id: &pb.TaskID{JobId: "a"}}, stop)
			_, err := j.output.emit(ctx, "parts/0.csv", []byte("ours"))
			if (err == nil) != (c.want == "ours") || c.from.lost && !errors.Is(err, errLost) {
				t.Errorf("%v", err)
			}
			got, _, err := objstore.ReadAll(t.Context(), store, part, objstore.GetOptions{}, 100)
			if err != nil || string(got) != c.want {
				t.Errorf("%q is there, %v; want %q", got, err, c.want)
			}
		})
	}
}
