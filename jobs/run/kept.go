package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// A state keeps what later rounds must know of the first: records that were passed over, to name them in a failure,
// and offsets, to refuse records off which others were taken. It also keeps how many rounds there were before it, the
// digest of the last one's record, and how large their states were (package proof). A model keeps the offsets. Phases
// see none of it.
const keptArray = notesPrefix + "kept" // U8: JSON, in a state

// kept is what a state keeps.
type kept struct {
	Passed  string           `json:"passed,omitempty"` // over: a sentence
	Offsets []dataset.Offset `json:"offsets,omitempty"`
	Rounds  int64            `json:"rounds,omitempty"` // rounds before this state
	Record  *proof.Digest    `json:"record,omitempty"` // of the last of them
	States  int64            `json:"states,omitempty"` // bytes of the states that they began with
	known   bool             // Offsets are those of all vectors
}

// learn adds what the first round found.
func (k kept) learn(roots *plainRoots) kept {
	k.Passed = roots.found.passedOver(roots.notes.Records)
	if !k.known {
		k.Offsets = roots.notes.Offsets
	}
	return k
}

// detachKept takes what is kept off a state, or off the model that a job begins from.
func detachKept(state jobs.Arrays) (jobs.Arrays, kept, error) {
	var k kept
	offsets, err := jobs.Offsets(state)
	if err != nil {
		return nil, k, err
	}
	isModel := state.IsModel()
	data, isKept := state[keptArray]
	if k.known = isModel; !isKept && len(offsets) == 0 {
		return state, k, nil
	}
	plain := maps.Clone(state)
	k.Offsets = offsets
	if isKept {
		text, err := jobs.Get[uint8](state, keptArray)
		if err != nil {
			return nil, k, err
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if dec.Decode(&k) != nil || dec.More() {
			return nil, k, jobs.Malformed("array %q of %d bytes does not hold what a state keeps", keptArray,
				len(data.Data))
		}
		k.known = isModel || k.Passed != "" || len(k.Offsets) > 0
	}
	delete(plain, keptArray)
	jobs.DropOffsets(plain)
	return plain, k, nil
}

// attach returns the state, or the model, with what it keeps.
func (k kept) attach(state jobs.Arrays, isModel bool) (jobs.Arrays, error) {
	switch {
	case state == nil || isModel && len(k.Offsets) == 0:
		return state, nil
	case isModel:
		return jobs.WithOffsets(state, k.Offsets), nil
	}
	data, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	state = maps.Clone(state)
	jobs.Put(state, keptArray, data)
	return state, nil
}

// check refuses vectors off which something else was taken than off those of the first round, or of the model.
func (k kept) check(from jobs.Source, block *dataset.Block) error {
	vectors := block.Dense.Width > 0 || block.Sparse.Width > 0
	if !k.known || len(block.IDs) == 0 || !vectors || slices.Equal(k.Offsets, block.Subtracted) {
		return nil
	}
	return offsetFault(block.IDs[0].Object, block.Subtracted, k.Offsets, "those that the model is of", from)
}

// offsetFault names what has been taken off, and off what.
func offsetFault(object string, got, want []dataset.Offset, of string, from ...jobs.Source) error {
	field := jobs.Input
	if len(from) > 0 {
		field = from[0]
	}
	return protocol.SpecFault(
		"%s was taken off these records, and %s off %s", offsetText(got), offsetText(want), of).In(object).
		WithHint(fmt.Sprintf("Set %s.subtract to the same offsets, by the columns of this data set", field))
}

func offsetText(offsets []dataset.Offset) string {
	if len(offsets) == 0 {
		return "nothing"
	}
	var parts []string
	for _, o := range offsets[:min(len(offsets), 10)] {
		parts = append(parts, fmt.Sprintf("%s of value %d", strconv.FormatFloat(o.Value, 'g', -1, 64), o.Column+1))
	}
	return strings.Join(parts, ", ")
}

// explain adds to a failure which records were passed over before it.
func (k kept) explain(err error) error {
	var fault *protocol.Fault
	if k.Passed == "" || !errors.As(err, &fault) || fault.Class == protocol.ClassInfrastructure ||
		strings.Contains(fault.What, k.Passed) {
		return err
	}
	told := *fault
	told.What += "; " + k.Passed
	return &told
}

// passedOver says how many of the records of a data set were passed over, and which was the first; "" for none.
func (s skips) passedOver(records int64) string {
	n := s.count(jobs.Input)
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %s %s passed over", n, protocol.Counted(n+records, "record"), protocol.Were(n))
	first := slices.IndexFunc(s.samples, func(x sample) bool { return x.Source == jobs.Input })
	if first < 0 {
		return text
	}
	x := s.samples[first]
	at := fmt.Sprintf("byte or row %d", x.ID.Offset)
	if x.Line > 0 {
		at = fmt.Sprintf("line %d", x.Line)
	}
	if x.Column > 0 {
		at += fmt.Sprintf(", column %d", x.Column)
	}
	return text + fmt.Sprintf(", the first at %s, %s: %s", x.ID.Object, at, x.Reason)
}
