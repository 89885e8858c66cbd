package show

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// leftOut are the fields of messages that -o json does not have.
var leftOut = map[string]string{
	"Failure.lost":                 "an object's key is of no use to a person",
	"RoundRecord.state":            "as above",
	"RoundRecord.metrics":          "the report has them",
	"RoundRecord.audited":          "the report says which tasks were audited",
	"RoundRecord.started_unix_ms":  "seconds has the time between them",
	"RoundRecord.finished_unix_ms": "as above",
	"ConvictedWorker.at_unix_ms":   "the log has it",
	"AuditSummary.ended_unix_ms":   "internal: when the report may be written",
	"Member.voter":                 "role has it",
	"Member.leader":                "role has it",
	"Schedule.paused":              "state has it",
	"Member.clock":                 "two of its fields stand among the member's; `gram status` has all of the leader's",
}

// filler gives every field of a message a value of its own.
type filler struct {
	next int64
	want map[string]string // of a field's name: how JSON shows its value
}

func (f *filler) fill(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		name := string(m.Descriptor().Name()) + "." + string(field.Name())
		if field.Kind() == protoreflect.MessageKind {
			if leftOut[name] != "" {
				continue
			}
			if field.IsList() {
				f.fill(m.Mutable(field).List().AppendMutable().Message())
			} else {
				f.fill(m.Mutable(field).Message())
			}
			continue
		}
		f.next++
		value, shown := f.value(field)
		if field.IsList() {
			m.Mutable(field).List().Append(value)
		} else {
			m.Set(field, value)
		}
		if shown != "" && leftOut[name] == "" {
			f.want[name] = shown
		}
	}
}

// value is a new value of a field, and how JSON shows it; "" where it cannot be told apart.
func (f *filler) value(field protoreflect.FieldDescriptor) (protoreflect.Value, string) {
	n, name := 1_000_000+f.next, string(field.Name())
	switch field.Kind() {
	case protoreflect.StringKind:
		text := fmt.Sprint("text-", n)
		if strings.HasSuffix(name, "_json") {
			text = strconv.Quote(text)
		}
		return protoreflect.ValueOfString(text), strings.Trim(text, `"`)
	case protoreflect.BytesKind:
		text := fmt.Sprint("bytes-", n)
		return protoreflect.ValueOfBytes([]byte(text)), hex.EncodeToString([]byte(text))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true), ""
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(1), ""
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(n)), f.number(name, n)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(n)), f.number(name, n)
	}
	return protoreflect.ValueOfInt64(n), f.number(name, n)
}

func (f *filler) number(name string, n int64) string {
	switch {
	case strings.HasSuffix(name, "_unix_ms"):
		return time.UnixMilli(n).UTC().Format("2006-01-02T15:04:05.000Z")
	case strings.HasSuffix(name, "_ppm"), strings.HasSuffix(name, "_us"):
		return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64)
	case name == "start_deadline_ms", name == "jitter_ms", name == "p50_ms", name == "p90_ms":
		return strconv.FormatFloat(float64(n)/1e3, 'f', -1, 64)
	}
	return strconv.FormatInt(n, 10)
}

// What a message gains is printed too, or is left out here with a reason.
func TestViewsHaveEveryField(t *testing.T) {
	job, status, sched := &gramv1.Job{}, &gramv1.StatusResponse{}, &gramv1.Schedule{}
	member, token, alias, sweep := &gramv1.Member{}, &gramv1.TokenInfo{}, &gramv1.Alias{}, &gramv1.SweepResponse{}
	for message, view := range map[proto.Message]func() any{
		job: func() any { return OfJob(job) }, status: func() any { return OfCluster(status) },
		sched: func() any { return OfSchedule(sched) }, member: func() any { return OfMember(member) },
		token: func() any { return OfToken(token) }, alias: func() any { return OfAlias(alias) },
		sweep: func() any { return OfSweep(sweep, false) },
	} {
		f := &filler{want: map[string]string{}}
		f.fill(message.ProtoReflect())
		text, err := json.Marshal(view())
		if err != nil {
			t.Fatal(err)
		}
		for field, shown := range f.want {
			if !strings.Contains(string(text), shown) {
				name := message.ProtoReflect().Descriptor().Name()
				t.Errorf("%s: field %s (%s) is not in %s", name, field, shown, text)
			}
		}
	}
}
