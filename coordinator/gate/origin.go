package gate

import (
	"context"
	"net/http"
)

// SourceHeader names the caller of a call that a member hands on to the leader. It counts on the
// port between members alone, where certificates show who calls.
const SourceHeader = "Gram-Source"

// ViaHeader names that member.
const ViaHeader = "Gram-Via"

// Origin is where a call comes from.
type Origin struct{ Address, Via string }

type originKey struct{}

// OriginOf is where a call comes from: what another member says of it, if one handed it on.
func OriginOf(r *http.Request) Origin {
	if o, ok := r.Context().Value(originKey{}).(Origin); ok {
		return o
	}
	return Origin{Address: r.RemoteAddr}
}

// HandedOn takes another member's word for where a call comes from.
func HandedOn(r *http.Request) *http.Request {
	o := Origin{Address: r.Header.Get(SourceHeader), Via: r.Header.Get(ViaHeader)}
	return r.WithContext(context.WithValue(r.Context(), originKey{}, o))
}
