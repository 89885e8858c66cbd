package listen

import (
	"testing"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// What the strict reader takes, protobuf's own reader takes as the same message; what protobuf's refuses, it refuses.
func FuzzStrictBody(f *testing.F) {
	for _, seed := range []string{`{"id":"a","definition":{"timeZone":"UTC","cron":"* * * * *"}}`,
		`{"schedule":{"recent":[{"x":1}]}}`, `[]`, `null`, `{"id":1}`, `{"a":`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pair := range [][2]proto.Message{{&pb.CreateScheduleRequest{}, &pb.CreateScheduleRequest{}},
			{&pb.CompleteRequest{}, &pb.CompleteRequest{}}} {
			err := strictJSON{"json"}.Unmarshal(data, pair[0])
			theirs := protojson.Unmarshal(data, pair[1])
			if err == nil && (theirs != nil || !proto.Equal(pair[0], pair[1])) {
				t.Fatalf("%q: %v, protojson %v", data, pair[0], theirs)
			}
		}
	})
}
