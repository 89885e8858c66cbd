package worker

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// States are kept up to a hundredth of the input, or 1 MiB where that is more; all of them, or none, where the spec says
// so.
func TestStatesThatAreKept(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		asked        string
		input, bytes int64
		want         bool
	}{
		{"", 0, mib, true}, {"", 0, mib + 1, false}, {proof.States, 500 * mib, 5 * mib, true},
		{proof.States, 500 * mib, 5*mib + 1, false}, {proof.Digests, 500 * mib, 1, false}, {proof.Full, 0, 1 << 40, true},
	} {
		j := outputJob(mem.New("m"), "")
		j.inputs = []*input{{manifest: dataset.Manifest{Objects: []dataset.Object{{Size: c.input - c.input/3}}}},
			{manifest: dataset.Manifest{Objects: []dataset.Object{{Size: c.input / 3}}}}}
		j.spec.Spec.Run.Proof = c.asked
		if got := j.keepsState(c.bytes); got != c.want {
			t.Errorf("proof %q, %d bytes of states over %d of input: %t", c.asked, c.bytes, c.input, got)
		}
	}
}

// recorded writes the records of rounds beside the model of a job, and returns them as steps tell of them.
func recorded(t *testing.T, j *job, rounds int64) []proof.Round {
	t.Helper()
	var told []proof.Round
	var before proof.Digest
	for n := int64(1); n <= rounds; n++ {
		r := &proof.Record{Round: n, Phase: "p", StateSize: 400_000, Before: before, Trees: []int64{1},
			Nodes: make([]byte, 32)}
		data := r.Encode()
		if _, err := j.emit(t.Context(), proof.RoundFile(n), data); err != nil {
			t.Fatal(err)
		}
		before = sha256.Sum256(data)
		told = append(told, proof.Round{Round: n, Phase: "p", Trees: 1, Leaves: 1, State: n <= 2,
			Record: proof.File{SHA256: before, Size: int64(len(data))}})
	}
	return told
}

// The coordinator forgets all but the newest rounds. The records of the others are found from one to the one before; of
// several beginnings, the last counts.
func TestOlderRoundsAreFound(t *testing.T) {
	j := outputJob(mem.New("m"), "")
	told := recorded(t, j, 6)
	wrong := told[3]
	wrong.Record = proof.File{}
	for name, some := range map[string][]proof.Round{
		"all": told, "the newest": told[4:], "the last": told[5:],
		"begun anew": {wrong, {Round: 9}, told[3], told[4], told[5]},
	} {
		got, err := j.rounds(t.Context(), some)
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

// Where a record is gone or damaged there is no proof, and the report's warning says which.
func TestLostRecords(t *testing.T) {
	for name, data := range map[string][]byte{"gone": nil, "damaged": []byte("other bytes")} {
		store := mem.New("m")
		j := outputJob(store, "")
		told := recorded(t, j, 3)
		key := protocol.OutputPrefix("a") + proof.RoundFile(2)
		if err := store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if data != nil {
			if _, err := store.Put(t.Context(), key, data); err != nil {
				t.Fatal(err)
			}
		}
		facts := &runReport{records: told[2:]}
		files, err := j.prove(t.Context(), nil, facts)
		if err != nil || files != nil || facts.Proof != nil || len(facts.Warnings) != 1 ||
			!strings.Contains(facts.Warnings[0], proof.RoundFile(2)) {
			t.Errorf("%s: %v, %v, warnings %q", name, files, err, facts.Warnings)
		}
	}
	_, err := outputJob(mem.New("m"), "").rounds(t.Context(), []proof.Round{{Round: 1}, {Round: 3}})
	if fault, ok := errors.AsType[*protocol.Fault](err); !ok || fault.Code != protocol.CodeLost {
		t.Errorf("round 2 of 3 was not told: %v", err)
	}
}
