package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/objstoretest"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	"github.com/gram-compute/gram/objstore/s3"
)

func conformance(t *testing.T, opt s3server.Options, traits ...objstoretest.Trait) {
	server := s3server.Start(t, opt)
	var n atomic.Int64
	objstoretest.Run(t, func(t *testing.T) objstore.Store {
		return server.Open(t, fmt.Sprintf("conformance-%d", n.Add(1)))
	}, traits...)
}

func TestConformanceVersitygw(t *testing.T) {
	t.Run("HTTP", func(t *testing.T) { conformance(t, s3server.Options{}) })
	t.Run("TLS", func(t *testing.T) { conformance(t, s3server.Options{TLS: true}) })
}

// withMinIO leaves MinIO, which fsyncs and takes its time, to `make test-minio`.
func withMinIO(t *testing.T) {
	t.Helper()
	if os.Getenv("REQUIRE_MINIO") == "" {
		t.Skip("`make test-minio` runs this")
	}
}

// onEachServer runs test on versitygw and on MinIO.
func onEachServer(t *testing.T, test func(*testing.T, *s3server.Server)) {
	t.Run("versitygw", func(t *testing.T) { test(t, s3server.Start(t, s3server.Options{})) })
	t.Run("MinIO", func(t *testing.T) {
		withMinIO(t)
		test(t, s3server.Start(t, s3server.Options{Program: s3server.MinIO}))
	})
}

func TestConformanceMinIO(t *testing.T) {
	withMinIO(t)
	t.Run("HTTP", func(t *testing.T) {
		conformance(t, s3server.Options{Program: s3server.MinIO}, objstoretest.ParentsUnnoticed)
	})
	t.Run("TLS", func(t *testing.T) {
		conformance(t, s3server.Options{Program: s3server.MinIO, TLS: true}, objstoretest.ParentsUnnoticed)
	})
}

func TestConformanceBelowPrefix(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	server.MakeBucket(t, "bucket")
	neighbor := server.Config("bucket")
	put(t, openStore(t, neighbor), "p0/outside", []byte("x"))
	var n atomic.Int64
	objstoretest.Run(t, func(t *testing.T) objstore.Store {
		cfg := server.Config("bucket")
		cfg.Prefix = fmt.Sprintf("p/%d", n.Add(1))
		return openStore(t, cfg)
	})
}

// TestMultipart: what is larger than SinglePut goes out in parts, what is not in one PUT.
func TestMultipart(t *testing.T) {
	for _, tls := range []bool{false, true} {
		server := s3server.Start(t, s3server.Options{TLS: tls})
		server.MakeBucket(t, "bucket")
		cfg := server.Config("bucket")
		cfg.SinglePut, cfg.PartSize = 1<<20, 5<<20
		s := openStore(t, cfg)
		for size, multipart := range map[int]bool{0: false, 1 << 20: false, 1<<20 + 1: false, 5<<20 + 1: true,
			12 << 20: true} {
			data := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
			info := put(t, s, "k", data)
			wantBytes(t, s, "k", data)
			if got := strings.Contains(info.ETag, "-"); got != multipart { // S3 writes "-parts" behind the ETag
				t.Errorf("TLS %v: %d bytes: ETag %s, multipart should be %v", tls, size, info.ETag, multipart)
			}
		}
	}
}

func TestOnePutIsOneRequest(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket")
	data := bytes.Repeat([]byte("x"), 20<<20) // more than a part, less than SinglePut
	p.breakWith(nil)
	put(t, s, "k", data)
	if seen := p.seen(); len(seen) != 1 || seen[0].Method != http.MethodPut || seen[0].URL.RawQuery != "" {
		t.Errorf("%d requests, the first %s %s", len(seen), seen[0].Method, seen[0].URL)
	}
}

// TestDamagedOnTheWay: the server refuses bytes that are not those signed.
func TestDamagedOnTheWay(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	p := newProxy(t, server)
	s := p.open(t, server, "bucket")
	p.breakWith(func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 1 {
			r.Body = &damaged{r.Body}
		}
		return false
	})
	put(t, s, "k", []byte("0123456789"))
	if n := len(p.seen()); n != 2 {
		t.Errorf("%d requests, want the refused one and another", n)
	}
	wantBytes(t, s, "k", []byte("0123456789"))
}

func TestKillAndRestart(t *testing.T) { onEachServer(t, testKillAndRestart) }

func testKillAndRestart(t *testing.T, server *s3server.Server) {
	server.MakeBucket(t, "bucket")
	cfg := server.Config("bucket")
	cfg.Attempts, cfg.RetryBase = 2, time.Millisecond
	s := openStore(t, cfg)
	want := map[string]objstore.Info{}
	for i := range 20 {
		key := fmt.Sprintf("dir/%d", i)
		want[key] = put(t, s, key, []byte(key))
	}
	server.Kill()
	for op, err := range everyCall(t.Context(), s) {
		if !errors.Is(err, objstore.ErrUnavailable) {
			t.Errorf("%s of a dead server: %v, want ErrUnavailable", op, err)
		}
	}
	cfg.Attempts, cfg.RetryBase, cfg.RetryCap = 1000, 10*time.Millisecond, 50*time.Millisecond
	patient := openStore(t, cfg)
	waited := make(chan error, 1)
	go func() {
		_, err := patient.Put(t.Context(), "patient", []byte("x"))
		waited <- err
	}()
	server.Restart(t)
	if err := <-waited; err != nil {
		t.Errorf("a put that began while the server was dead: %v", err)
	}
	for key, before := range want {
		wantBytes(t, s, key, []byte(key))
		now, err := s.Stat(t.Context(), key)
		if now.Digest = ""; err != nil || now != before {
			t.Errorf("%s after the restart: %+v, %v; before %+v", key, now, err, before)
		}
	}
	wantBytes(t, s, "patient", []byte("x"))
}

func TestWrongCredentials(t *testing.T) { onEachServer(t, testWrongCredentials) }

func testWrongCredentials(t *testing.T, server *s3server.Server) {
	right := server.Open(t, "bucket")
	put(t, right, "k", []byte("secret data"))
	for name, change := range map[string]func(*s3.Config){
		"secret":     func(c *s3.Config) { c.SecretKey = "hunter2hunter2" },
		"access key": func(c *s3.Config) { c.AccessKey = "nobody" },
	} {
		cfg := server.Config("bucket")
		change(&cfg)
		for op, err := range everyCall(t.Context(), openStore(t, cfg)) {
			if !errors.Is(err, objstore.ErrDenied) {
				t.Errorf("wrong %s: %s: %v, want ErrDenied", name, op, err)
			}
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, "hunter2") ||
				strings.Contains(text, s3server.SecretKey) {
				t.Errorf("wrong %s: %s: the error shows the secret: %s", name, op, text)
			}
		}
	}
	wantBytes(t, right, "k", []byte("secret data"))
}

func TestMissingBucket(t *testing.T) { onEachServer(t, testMissingBucket) }

func testMissingBucket(t *testing.T, server *s3server.Server) {
	s := openStore(t, server.Config("no-such-bucket"))
	for op, err := range everyCall(t.Context(), s) {
		if !errors.Is(err, objstore.ErrInvalidURI) {
			t.Errorf("%s: %v, want ErrInvalidURI", op, err)
		}
	}
}

func TestCertificates(t *testing.T) {
	server := s3server.Start(t, s3server.Options{TLS: true})
	server.MakeBucket(t, "bucket")
	cfg := server.Config("bucket")
	cfg.RetryBase, cfg.RetryCap = time.Hour, time.Hour // a retry would never end
	cfg.RootCAs = nil
	_, err := openStore(t, cfg).Stat(t.Context(), "k")
	if !errors.Is(err, objstore.ErrUnavailable) || !strings.Contains(err.Error(), "AWS_CA_BUNDLE") {
		t.Errorf("an unknown authority: %v", err)
	}
	for _, kv := range server.Env() {
		if name, value, _ := strings.Cut(kv, "="); name == "AWS_CA_BUNDLE" {
			t.Setenv(name, value)
		}
	}
	put(t, openStore(t, cfg), "k", []byte("x"))

	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{empty, empty + ".missing"} {
		t.Setenv("AWS_CA_BUNDLE", file)
		if _, err := s3.Open(cfg); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("AWS_CA_BUNDLE=%s: %v", file, err)
		}
	}
	plain := server.Config("bucket")
	plain.Endpoint = "https" + strings.TrimPrefix(s3server.Start(t, s3server.Options{}).Endpoint(), "http")
	plain.RetryBase, plain.RetryCap = time.Hour, time.Hour
	if _, err := openStore(t, plain).Stat(t.Context(), "k"); !errors.Is(err, objstore.ErrUnavailable) {
		t.Errorf("https to an http server: %v", err)
	}
}
