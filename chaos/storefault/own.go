package storefault

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// befallsOwn reports whether a fault of the cluster's own objects is for this request. What vanishes is a result of a
// task, which can be made again; a log line or the cluster's mark cannot.
func (p *Proxy) befallsOwn(f Fault, r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, p.own) {
		return false
	}
	switch f {
	case Vanish:
		return r.Method == http.MethodPut && r.URL.RawQuery == "" && madeByTask(r.URL.Path)
	case Flipped, Drip:
		return r.Method == http.MethodGet && madeByTask(r.URL.Path)
	}
	return true
}

// madeByTask reports whether a path is that of a job object that its content names.
func madeByTask(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	digest, _, ok := strings.Cut(name, "-")
	if !ok || len(digest) < 60 {
		return false
	}
	_, err := hex.DecodeString(digest)
	return err == nil && len(digest)%2 == 0
}

// refusals are the codes by which stores deny access for a while.
var refusals = []string{"AccessDenied", "ExpiredToken", "RequestTimeTooSkewed", "InvalidAccessKeyId"}

// denied answers one of the refusals, drawn by the pause.
func denied(w http.ResponseWriter, pause time.Duration) {
	code := refusals[int(pause.Milliseconds())%len(refusals)]
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("Connection", "close") // what is left of the body is nobody's
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>Refused for a while.</Message></Error>`, code)
}

// vanish answers a PUT as if it were done.
func vanish(w http.ResponseWriter, r *http.Request) {
	sum := md5.New() // the ETag of a PUT in one part
	if _, err := io.Copy(sum, r.Body); err != nil {
		drop(w, true)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sum.Sum(nil)))
	w.WriteHeader(http.StatusOK)
}

// flipped changes one bit of the first piece of an answer.
type flipped struct {
	http.ResponseWriter
	done bool
}

// Write implements http.ResponseWriter.
func (f *flipped) Write(b []byte) (int, error) {
	if f.done || len(b) == 0 {
		return f.ResponseWriter.Write(b)
	}
	f.done = true
	wrong := append([]byte(nil), b...)
	wrong[len(wrong)/2] ^= 1
	return f.ResponseWriter.Write(wrong)
}

// dripping sends one byte a second, until the client has gone.
type dripping struct {
	http.ResponseWriter
	gone <-chan struct{}
}

// Write implements http.ResponseWriter.
func (d *dripping) Write(b []byte) (int, error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := range b {
		select {
		case <-tick.C:
		case <-d.gone:
			return i, io.ErrClosedPipe
		}
		if _, err := d.ResponseWriter.Write(b[i : i+1]); err != nil {
			return i, err
		}
		if err := http.NewResponseController(d.ResponseWriter).Flush(); err != nil {
			return i, err
		}
	}
	return len(b), nil
}
