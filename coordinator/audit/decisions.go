package audit

import (
	"errors"
	"strings"
	"time"

	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Decided writes down a command that this leader proposed by itself; nothing else needs to be done for
// a new one. Completions are left out: they are many, and the workers'.
func (trails Trails) Decided(cmd *pb.Command, reply state.Reply, index uint64, err error) {
	body := cmd.ProtoReflect().WhichOneof(cmd.ProtoReflect().Descriptor().Oneofs().ByName("body"))
	if body == nil || cmd.GetComplete() != nil {
		return
	}
	rec := Record{
		Time: time.UnixMilli(cmd.GetNowUnixMs()), Member: trails.Member, Who: "leader", What: string(body.Name()),
		Object: objectOf(cmd.ProtoReflect().Get(body).Message(), 0), Result: OK, RaftIndex: index,
	}
	if err == nil && reply.Err != nil {
		err = reply.Err
	}
	switch {
	case errors.Is(err, outcome.ErrUnknownOutcome):
		rec.Result, rec.Reason = Unknown, reasonOf("unavailable", err)
	case err != nil:
		rec.Result, rec.Reason = Refused, reasonOf("refused", err)
	}
	if fire := cmd.GetFireTick(); fire != nil {
		describeTick(&rec, fire, reply)
	}
	if len(reply.Retired) > 0 {
		rec.Object = "jobs " + strings.Join(reply.Retired, " ")
	}
	trails.Log.Write(rec)
}

// describeTick tells which tick, and its job.
func describeTick(rec *Record, fire *pb.FireTick, reply state.Reply) {
	rec.Who = "schedule " + fire.GetScheduleId()
	rec.Object = "tick " + time.UnixMilli(fire.GetTickUnixMs()).UTC().Format(time.RFC3339Nano)
	switch {
	case rec.Result != OK:
	case fire.GetJob() == nil:
		rec.Reason = "skipped: " + state.SkipName(fire.GetSkip())
	case reply.Schedule != nil && len(reply.Schedule.Recent) > 0:
		rec.Object += ", job " + reply.Schedule.Recent[len(reply.Schedule.Recent)-1].JobID
	}
}
