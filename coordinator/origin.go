package coordinator

import (
	"context"
	"net/http"
)

// sourceHeader names the caller of a call that a member hands on to the leader. It counts on the
// port between members alone, where certificates say who speaks.
const sourceHeader = "Gram-Source"

// viaHeader names that member.
const viaHeader = "Gram-Via"

// origin is where a call comes from.
type origin struct{ address, via string }

type originKey struct{}

// originOf is where a call comes from: what another member says of it, if one handed it on.
func originOf(r *http.Request) origin {
	if o, ok := r.Context().Value(originKey{}).(origin); ok {
		return o
	}
	return origin{address: r.RemoteAddr}
}

// handedOn takes another member's word for where a call comes from.
func handedOn(r *http.Request) *http.Request {
	o := origin{address: r.Header.Get(sourceHeader), via: r.Header.Get(viaHeader)}
	return r.WithContext(context.WithValue(r.Context(), originKey{}, o))
}
