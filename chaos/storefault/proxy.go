// Package storefault is an HTTP proxy before an S3 server that does to requests what
// networks and busy stores do.
package storefault

import (
	"context"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"sync"
	"time"
)

// Fault is what happens to a request.
type Fault string

// The faults.
const (
	SlowDown  Fault = "503 SlowDown"   // refused, to be tried again later
	Reset     Fault = "reset in body"  // half the answer to a GET, then a TCP reset
	ShortRead Fault = "short read"     // half the answer to a GET, then the end of the connection
	LostReply Fault = "lost PUT reply" // the PUT is done, its answer lost
	LostPut   Fault = "lost PUT"       // the PUT does not arrive, nor does an answer
	Delay     Fault = "delay"          // up to three seconds
	Outage    Fault = "outage"         // every connection is closed at once
	Twice     Fault = "PUT done twice" // the network delivered it again

	// These befall the cluster's own objects only: for an object of a user they would be its own fault.
	// as with credentials that expired, a clock that is off, a policy that changed
	Denied  Fault = "403 denied"
	Vanish  Fault = "PUT answered and lost" // 200, and nothing is stored
	Flipped Fault = "bit flipped in a GET"  // in the middle of the answer's body
	Drip    Fault = "dripping GET"          // one byte a second
)

// Faults are all of them, in the order they are shown.
var Faults = []Fault{SlowDown, Reset, ShortRead, LostReply, LostPut, Delay, Outage, Twice, Denied, Vanish, Flipped,
	Drip}

// longestDelay of one request.
const longestDelay = 3 * time.Second

// Proxy is a running proxy. Set and Count may be called at any time.
type Proxy struct {
	server  *http.Server
	forward *httputil.ReverseProxy
	serving sync.WaitGroup
	ended   error

	own string // prefix of the paths of the cluster's own objects

	mu     sync.Mutex
	fault  Fault // "" for none
	share  float64
	rng    *rand.Rand
	counts map[Fault]int
	gone   []string // paths of what vanished
}

// Start listens and hands requests on to the server at host:port. own is the prefix of the paths of the cluster's own
// objects; seed decides which requests a fault befalls.
func Start(listen, server, own string, seed uint64) (*Proxy, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	p := &Proxy{own: own, rng: rand.New(rand.NewPCG(seed, 0x53)), counts: make(map[Fault]int)}
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { // the signature covers the Host header, which stays
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", server, r.In.Host
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		ErrorLog:  log.New(io.Discard, "", 0), // clients are told by 502
		ModifyResponse: func(res *http.Response) error {
			if cut, ok := res.Request.Context().Value(cutKey{}).(*cut); ok {
				cut.half = res.ContentLength / 2
			}
			return nil
		},
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	p.serving.Go(func() { p.ended = p.server.Serve(listener) })
	return p, nil
}

// Set makes a share of the requests from now on suffer a fault; Set("", 0) ends it.
func (p *Proxy) Set(f Fault, share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.share = f, share
}

// Counts tells how many requests suffered each fault.
func (p *Proxy) Counts() map[Fault]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := make(map[Fault]int, len(p.counts))
	for f, n := range p.counts {
		counts[f] = n
	}
	return counts
}

// Vanished are the paths of the objects that were answered and lost. Some of them were written again later.
func (p *Proxy) Vanished() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.gone)
}

// Close ends the proxy.
func (p *Proxy) Close() error {
	err := p.server.Close()
	p.serving.Wait()
	if !errors.Is(p.ended, http.ErrServerClosed) {
		err = errors.Join(err, p.ended)
	}
	return err
}

// befalls decides what happens to a request: nothing, where the fault is for another method.
func (p *Proxy) befalls(r *http.Request) (Fault, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.fault
	switch f {
	case "":
		return "", 0
	case Reset, ShortRead:
		if r.Method != http.MethodGet {
			return "", 0
		}
	case LostReply, LostPut, Twice:
		if r.Method != http.MethodPut {
			return "", 0
		}
	case Denied, Vanish, Flipped, Drip:
		if !p.befallsOwn(f, r) {
			return "", 0
		}
	}
	if p.rng.Float64() >= p.share {
		return "", 0
	}
	p.counts[f]++
	if f == Vanish {
		p.gone = append(p.gone, r.URL.Path)
	}
	return f, time.Duration(p.rng.Int64N(int64(longestDelay)))
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault, pause := p.befalls(r)
	switch fault {
	case SlowDown:
		slowDown(w)
	case Outage:
		drop(w, true)
	case LostPut:
		_, _ = io.Copy(io.Discard, r.Body) // the client may have gone meanwhile, and that is well
		drop(w, true)
	case LostReply:
		p.forward.ServeHTTP(newSilent(), r)
		drop(w, true)
	case Reset, ShortRead:
		p.half(w, r, fault == Reset)
	case Twice:
		p.twice(w, r)
	case Denied:
		denied(w, pause)
	case Vanish:
		vanish(w, r)
	case Flipped:
		p.forward.ServeHTTP(&flipped{ResponseWriter: w}, r)
	case Drip:
		p.forward.ServeHTTP(&dripping{ResponseWriter: w, gone: r.Context().Done()}, r)
	case Delay:
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
			p.forward.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	default:
		p.forward.ServeHTTP(w, r)
	}
}

func slowDown(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("Connection", "close") // what is left of the body is nobody's
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
}

// drop ends the client's connection, by a reset or in order.
func drop(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the server closes the connection
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0) // an error means that it is closed already
	}
	conn.Close()
}

type cutKey struct{}

// cut is where an answer ends too early.
type cut struct{ half int64 }

// half sends half of what the server answers.
func (p *Proxy) half(w http.ResponseWriter, r *http.Request, reset bool) {
	c := &cut{}
	short := &halved{ResponseWriter: w, cut: c}
	p.forward.ServeHTTP(short, r.WithContext(context.WithValue(r.Context(), cutKey{}, c)))
	_ = http.NewResponseController(w).Flush() // so that half of it is on its way
	drop(w, reset)
}

// halved lets the first half of a body through.
type halved struct {
	http.ResponseWriter
	cut  *cut
	sent int64
}

// Write implements http.ResponseWriter.
func (h *halved) Write(b []byte) (int, error) {
	left := h.cut.half - h.sent
	if left <= 0 {
		return len(b), nil
	}
	n, err := h.ResponseWriter.Write(b[:min(int64(len(b)), left)])
	h.sent += int64(n)
	if err != nil {
		return n, err
	}
	return len(b), nil
}

// silent is an answer that nobody gets.
type silent struct{ header http.Header }

func newSilent() *silent { return &silent{header: make(http.Header)} }

// Header implements http.ResponseWriter.
func (s *silent) Header() http.Header { return s.header }

// Write implements http.ResponseWriter.
func (s *silent) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader implements http.ResponseWriter.
func (s *silent) WriteHeader(int) {}

// largestTwice bounds the bodies that are held to be sent again.
const largestTwice = 16 << 20
