package state_test

import (
	"bytes"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

func initCluster(id string, secret []byte) *pb.Command {
	return &pb.Command{Body: &pb.Command_Init{Init: &pb.InitCluster{ClusterId: id, Secret: secret}}}
}

// No Reason is the zero value, so that a refusal without a reason stands out.
func TestReasonsAreNotZero(t *testing.T) {
	for _, reason := range []state.Reason{
		state.Malformed, state.NotFound, state.Conflict, state.Exhausted, state.Ended, state.Held, state.LastAdmin,
	} {
		if reason == 0 {
			t.Error("a reason is the zero value")
		}
	}
}

func TestLogEntries(t *testing.T) {
	entry, err := proto.Marshal(submit("a", "h"))
	if err != nil {
		t.Fatal(err)
	}
	s, reply := state.ApplyBytes(state.New(), entry)
	if reply.Err != nil || !reply.Created || s.JobCount() != 1 {
		t.Errorf("an entry that submits: %d jobs, %+v", s.JobCount(), reply)
	}
	same, reply := state.ApplyBytes(s, entry[:len(entry)-1])
	if reply.Err == nil || reply.Err.Reason != state.Malformed || same.Digest() != s.Digest() {
		t.Errorf("an entry that is cut short: %+v", reply)
	}
}

func TestAClusterKeepsItsID(t *testing.T) {
	s, _ := run(t, state.New(), initCluster("c", nil), initCluster("c", nil)) // two members began it
	if s.ClusterID != "c" {
		t.Errorf("cluster %q", s.ClusterID)
	}
	refused(t, s, initCluster("d", nil), state.Conflict, "is c already")
	refused(t, state.New(), initCluster("", nil), state.Malformed, "must not be empty")
}

// The first secret of 32 to 64 bytes counts, whichever command brings it.
func TestSecrets(t *testing.T) {
	set := func(secret []byte) *pb.Command {
		return &pb.Command{Body: &pb.Command_SetSecret{SetSecret: &pb.SetSecret{Secret: secret}}}
	}
	for size, good := range map[int]bool{0: false, 31: false, 32: true, 64: true, 65: false} {
		secret := bytes.Repeat([]byte{7}, size)
		begun, _ := run(t, state.New(), initCluster("c", secret))
		if kept := len(begun.Secret) > 0; kept != good {
			t.Errorf("a cluster that begins with a secret of %d bytes: kept %v", size, kept)
		}
		if !good {
			refused(t, begun, set(secret), state.Malformed, "32 to 64 bytes")
			continue
		}
		for _, first := range []*pb.Command{initCluster("c", secret), set(secret)} {
			if s, _ := run(t, state.New(), first, set(aSecret)); !bytes.Equal(s.Secret, secret) {
				t.Errorf("of two secrets, the first of %d bytes, %x is kept", size, s.Secret)
			}
		}
	}
}
