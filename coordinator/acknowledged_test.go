package coordinator

import (
	"fmt"
	"testing"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Whatever member is asked, at once, it knows what another has acknowledged.
func TestEveryMemberKnowsWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 3)
	first, _ := q.calls(q.leader())
	for i := range 20 { // a member that lags may have caught up by chance
		id := fmt.Sprint("a", i)
		if _, err := first.Submit(t.Context(),
			connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: testSpec(id)})); err != nil {
			t.Fatal(err)
		}
		for name, c := range q.members {
			jobs, _ := q.calls(c)
			_, err := jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: id}))
			switch connect.CodeOf(err) {
			case connect.CodeNotFound:
				t.Errorf("%s does not know job %s: %v", name, id, err)
			case connect.CodeUnavailable: // the lead may move on a busy machine
				t.Log(err)
			default:
				if err != nil {
					t.Error(err)
				}
			}
		}
	}
}
