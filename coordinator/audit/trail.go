package audit

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Trail gathers what is known of a call on its way through.
type Trail struct {
	object string
	Index  uint64 // of the last entry it became
	code   string // of its error; "" without an error
	err    error
	served bool // it reached its service
}

type trailKey struct{}

// With lets what runs under the context leave its marks on a trail; a nil trail takes no marks.
func With(ctx context.Context, t *Trail) context.Context {
	return context.WithValue(ctx, trailKey{}, t)
}

// TrailOf is the trail of the call that ctx belongs to; nil where nobody called.
func TrailOf(ctx context.Context) *Trail {
	t, _ := ctx.Value(trailKey{}).(*Trail)
	return t
}

// Follow is the interceptor that tells a call's trail its object and its end.
type Follow struct{}

// WrapUnary implements connect.Interceptor.
func (Follow) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		res, err := next(ctx, req)
		if t := TrailOf(ctx); t != nil {
			t.end(err)
			if m, ok := req.Any().(proto.Message); ok {
				t.object = objectOf(m.ProtoReflect(), 2)
			}
			if t.object == "" && err == nil {
				if m, ok := res.Any().(proto.Message); ok {
					t.object = objectOf(m.ProtoReflect(), 2)
				}
			}
		}
		return res, err
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (Follow) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		err := next(ctx, conn)
		if t := TrailOf(ctx); t != nil {
			t.end(err)
		}
		return err
	}
}

// WrapStreamingClient implements connect.Interceptor: there are no such clients here.
func (Follow) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// Entered notes that a call became an entry of the log.
func (t *Trail) Entered(index uint64) {
	if t != nil {
		t.Index = index
	}
}

func (t *Trail) end(err error) {
	t.served, t.err = true, err
	if err != nil {
		t.code = connect.CodeOf(err).String()
	}
}

// objectOf finds the id of what a message is about: the first field so called, in it or in the
// messages within.
func objectOf(m protoreflect.Message, depth int) string {
	for _, name := range []protoreflect.Name{"id", "job_id", "schedule_id", "worker_id", "alias", "name"} {
		if f := m.Descriptor().Fields().ByName(name); f != nil && f.Kind() == protoreflect.StringKind && !f.IsList() &&
			m.Get(f).String() != "" {
			return m.Get(f).String()
		}
	}
	if depth == 0 {
		return ""
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Kind() == protoreflect.MessageKind && !f.IsList() && !f.IsMap() && m.Has(f) {
			if id := objectOf(m.Get(f).Message(), depth-1); id != "" {
				return id
			}
		}
	}
	return ""
}
