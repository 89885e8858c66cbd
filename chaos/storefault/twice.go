package storefault

import (
	"bytes"
	"io"
	"net/http"
)

// twice does a PUT, and once more after its answer. Of a body too large to hold it does the first only.
func (p *Proxy) twice(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, largestTwice+1))
	if err != nil {
		drop(w, true)
		return
	}
	again := r.Clone(r.Context())
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))
	p.forward.ServeHTTP(w, r)
	if len(body) <= largestTwice {
		again.Body = io.NopCloser(bytes.NewReader(body))
		p.forward.ServeHTTP(newSilent(), again)
	}
}
