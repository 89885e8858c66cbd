package worker

import (
	"context"
	"fmt"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

// putCourse keeps what the leader remembers of the job for its report, which lacks it where that fails.
func (j *job) putCourse(ctx context.Context, by made, course *pb.Timeline) *pb.ObjectRef {
	if course == nil {
		return nil
	}
	data, err := proto.Marshal(course)
	if err == nil {
		var ref *pb.ObjectRef
		if ref, err = j.w.put(ctx, by, data); err == nil {
			return ref
		}
	}
	j.w.cfg.Logger.Warn("the report will have no timeline", "job", j.id, "error", err)
	return nil
}

// course reads what putCourse kept; nil where there is nothing.
func (j *job) course(ctx context.Context, by made, ref *pb.ObjectRef) (*pb.Timeline, error) {
	if ref == nil {
		return nil, nil
	}
	data, err := j.w.get(ctx, by, ref)
	if err != nil {
		return nil, err
	}
	var course pb.Timeline
	if err := proto.Unmarshal(data, &course); err != nil {
		return nil, fmt.Errorf("read the job's timeline: %w", err)
	}
	return &course, nil
}
