package proofs

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// States are kept up to a hundredth of the input, or 1 MiB where that is more; all of them, or none, where the spec
// asks for that.
func TestStatesThatAreKept(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		kept         string
		input, bytes int64
		want         bool
	}{
		{proof.States, 0, mib, true}, {proof.States, 0, mib + 1, false}, {proof.States, 500 * mib, 5 * mib, true},
		{proof.States, 500 * mib, 5*mib + 1, false}, {proof.Digests, 500 * mib, 1, false},
		{proof.Full, 0, 1 << 40, true},
	} {
		k := Keeper{Kept: c.kept, InputBytes: c.input}
		if got := k.keepsState(c.bytes); got != c.want {
			t.Errorf("proof %q, %d bytes of states over %d of input: %t", c.kept, c.bytes, c.input, got)
		}
	}
}

// folder is the files beside a model.
type folder map[string][]byte

func (f folder) read(_ context.Context, name string) ([]byte, error) {
	if data, ok := f[name]; ok {
		return data, nil
	}
	return nil, protocol.TaskFault(protocol.CodeLost, "there is no such file").In(name)
}

func (f folder) emit(_ context.Context, name string, data []byte) (jobs.File, error) {
	f[name] = data
	return jobs.File{Name: name}, nil
}

// recorded writes the records of rounds, whose states have 400,000 bytes, and returns them as steps tell of them.
func recorded(t *testing.T, into folder, rounds int64) []proof.Round {
	t.Helper()
	var told []proof.Round
	var before proof.Digest
	for n := int64(1); n <= rounds; n++ {
		r := &proof.Record{Round: n, Phase: "p", StateSize: 400_000, Before: before, Trees: []int64{1},
			Nodes: make([]byte, 32)}
		data := r.Encode()
		into[proof.RoundFile(n)] = data
		before = sha256.Sum256(data)
		told = append(told, proof.Round{Round: n, Phase: "p", Trees: 1, Leaves: 1, State: n <= 2,
			Record: proof.File{SHA256: before, Size: int64(len(data))}})
	}
	return told
}

// The coordinator forgets all but the newest rounds. The records of the others are found from one to the one before; of
// several beginnings, the last counts.
func TestOlderRoundsAreFound(t *testing.T) {
	files := folder{}
	k := Keeper{Kept: proof.States, Read: files.read}
	told := recorded(t, files, 6)
	wrong := told[3]
	wrong.Record = proof.File{}
	for name, some := range map[string][]proof.Round{
		"all": told, "the newest": told[4:], "the last": told[5:],
		"begun anew": {wrong, {Round: 9}, told[3], told[4], told[5]},
	} {
		got, err := k.Rounds(t.Context(), some)
		if err != nil || len(got) != 6 {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		for i, r := range got {
			if r != told[i] {
				t.Errorf("%s: round %d is %+v, not %+v", name, i+1, r, told[i])
			}
		}
	}
}

// A record that is gone or damaged is a fault of CodeLost, and so is a round of which nothing was told.
func TestLostRecords(t *testing.T) {
	lost := func(err error) bool {
		fault, ok := errors.AsType[*protocol.Fault](err)
		return ok && fault.Code == protocol.CodeLost
	}
	files := folder{}
	k := Keeper{Read: files.read}
	told := recorded(t, files, 3)
	files[proof.RoundFile(2)] = []byte("other bytes")
	_, err := k.Rounds(t.Context(), told[2:])
	if !lost(err) {
		t.Errorf("damaged: %v", err)
	}
	delete(files, proof.RoundFile(2))
	if _, err := k.Rounds(t.Context(), told[2:]); !lost(err) {
		t.Errorf("gone: %v", err)
	}
	if _, err := k.Rounds(t.Context(), []proof.Round{{Round: 1}, {Round: 3}}); !lost(err) {
		t.Errorf("round 2 of 3 was not told: %v", err)
	}
	if _, err := k.Rounds(t.Context(), nil); !lost(err) {
		t.Errorf("no round was told: %v", err)
	}
}

// What a step and a node write is under the digests that the proof names.
func TestWrites(t *testing.T) {
	files, state := folder{}, jobs.Arrays{}
	state.PutText("text", "state")
	record := &proof.Record{Round: 1, Phase: "p", State: state.Digest(), StateSize: state.EncodedSize(),
		Trees: []int64{1}, Nodes: make([]byte, 32)}
	k := Keeper{Kept: proof.Full}
	round, err := k.Round(state, record)
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range round.Writes(files.emit) {
		if err := write(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Partials(files.emit)(t.Context(), protocol.Node{}, state); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{proof.StateFile(record.State), proof.PartialFile(record.State)} {
		if sum := sha256.Sum256(files[name]); sum != record.State {
			t.Errorf("%s has the digest %x", name, sum)
		}
	}
	if string(files[proof.RoundFile(1)]) != string(record.Encode()) || len(files) != 3 {
		t.Errorf("%d files", len(files))
	}
	if (Keeper{Kept: proof.States}).Partials(files.emit) != nil {
		t.Error("partials are kept where only states are asked for")
	}
}
