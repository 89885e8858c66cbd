package s3_test

import (
	"bytes"
	"net/http"
	"sync"
	"testing"

	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	"github.com/gram-compute/gram/objstore/s3"
)

// parts makes uploads of more than 5 MiB multipart, of parts of that size.
func parts(c *s3.Config) { c.SinglePut, c.PartSize = 1<<20, 5<<20 }

// A part that hangs gets a second request beside it: the other parts, and the upload, are not sent again.
func TestAPartThatHangs(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket", impatient, parts)
	data := bytes.Repeat([]byte("0123456789abcdef"), 11<<20/16)
	var mu sync.Mutex
	sent := make(map[string]int) // requests by number of the part
	begun := 0
	p.breakWith(func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		number := r.URL.Query().Get("partNumber")
		if r.Method == http.MethodPost && r.URL.Query().Has("uploads") {
			begun++
		}
		sent[number]++
		hangs := number == "2" && sent[number] == 1
		mu.Unlock()
		if hangs {
			hang(r)
		}
		return hangs
	})
	put(t, s, "k", data)
	wantBytes(t, s, "k", data)
	if begun != 1 || sent["2"] < 2 {
		t.Errorf("%d uploads, part 2 was sent %d times; want 1 upload and a second request", begun, sent["2"])
	}
}

// A part that the server refuses for good fails the write, and leaves no upload behind.
func TestARefusedPartLeavesNoUpload(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket", parts)
	var mu sync.Mutex
	aborted := 0
	p.breakWith(func(_ int, w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodDelete && r.URL.Query().Has("uploadId") {
			aborted++
		}
		if r.URL.Query().Get("partNumber") != "3" {
			return false
		}
		w.WriteHeader(http.StatusBadRequest)
		return true
	})
	if _, err := s.Put(t.Context(), "k", make([]byte, 11<<20)); err == nil {
		t.Error("a write without its third part succeeded")
	}
	if _, err := s.Stat(t.Context(), "k"); err == nil {
		t.Error("there is an object")
	}
	if aborted == 0 {
		t.Error("the upload was not given up")
	}
}
