package listen

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
)

// A message that is too long is refused without being decompressed to its end.
func TestDecompressionEndsAtTheBound(t *testing.T) {
	for _, size := range []int{0, 1, maxCompressed - 2, maxCompressed - 1, 64 << 20} {
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, err := io.WriteString(w, "{"+strings.Repeat(" ", size)+"}")
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		source := bytes.NewReader(zipped.Bytes())
		all := source.Len()
		d := newBoundedGzip()
		if err := d.Reset(source); err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, d)
		if fits := size+2 <= maxCompressed; fits {
			if err != nil || n != int64(size+2) {
				t.Errorf("%d bytes that fit: %d, %v", size+2, n, err)
			}
			continue
		}
		if n != maxCompressed || connect.CodeOf(err) != connect.CodeResourceExhausted {
			t.Errorf("%d bytes that are too many: %d, %v", size+2, n, err)
		}
		if read := all - source.Len(); size > 1<<20 && read > all/8 {
			t.Errorf("%d of %d compressed bytes were read", read, all)
		}
	}
}

// Few compressed requests are read at a time. One that was read makes room, though its answer may take hours; others
// need none.
func TestCompressedRequestsTakeTurns(t *testing.T) {
	begun, read, leave := make(chan bool), make(chan bool), make(chan bool)
	handler := BoundCompressed(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		held := r.Header.Get("Held") != ""
		if held {
			begun <- true
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		if held {
			read <- true
			<-leave
		}
	}))
	call := func(encoding, held string, body io.Reader) int {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Content-Encoding", encoding)
		req.Header.Set("Held", held)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		return w.Code
	}
	var calls sync.WaitGroup
	var bodies []*io.PipeWriter
	for range compressedCalls {
		reader, writer := io.Pipe()
		bodies = append(bodies, writer)
		calls.Go(func() { call("gzip", "yes", reader) })
		<-begun
	}
	if code := call("gzip", "", strings.NewReader("{}")); code != http.StatusTooManyRequests {
		t.Errorf("one more than are read at a time: %d", code)
	}
	if code := call("identity", "", strings.NewReader("{}")); code != http.StatusOK {
		t.Errorf("one that is not compressed: %d", code)
	}
	bodies[0].Close()
	<-read
	for range 2 {
		if code := call("gzip", "", strings.NewReader("{}")); code != http.StatusOK {
			t.Errorf("when one was read: %d", code)
		}
	}
	for _, body := range bodies[1:] {
		body.Close()
		<-read
	}
	close(leave)
	calls.Wait()
}
