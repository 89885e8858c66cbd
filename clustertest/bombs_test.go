package clustertest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

var bombedFor = flag.Duration("bombs.for", 3*time.Second,
	"how long TestBombs throws its bombs; from 30s on, it holds elections and the p99 of other clients to their bounds")

const (
	bombers     = 60
	bombSize    = 1500 << 20 // bytes, decompressed
	bombMemory  = 128 << 20  // bytes that the leader may take more
	bombLatency = time.Second
)

// bombLeader throws bombs at the leader until the context ends, and returns how many calls were answered, and how many
// of them with a refusal.
func bombLeader(ctx context.Context, t *testing.T, q *clustertest.Quorum, leader string) (answered, refused int64) {
	t.Helper()
	file := filepath.Join(q.Home, "read.token")
	gram(t, q.Cluster, 0, "token", "create", "--scope", "read", "--name", "reader", "--out", file)
	token, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bomb := gzippedBlanks(t, bombSize)
	var all, turned atomic.Int64
	var calling sync.WaitGroup
	for range bombers {
		client := reader(q)
		calling.Go(func() {
			defer client.CloseIdleConnections()
			for ctx.Err() == nil {
				status, err := throw(ctx, client, leader, strings.TrimSpace(string(token)), bomb)
				if err != nil {
					continue // the leader hung up, which it may
				}
				all.Add(1)
				if status == http.StatusTooManyRequests {
					turned.Add(1)
				}
			}
		})
	}
	calling.Wait()
	return all.Load(), turned.Load()
}

// reader is a client with connections of its own.
func reader(q *clustertest.Quorum) *http.Client {
	config := q.HTTP().Transport.(*http.Transport).TLSClientConfig
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: config.RootCAs, MinVersion: tls.VersionTLS13}, ForceAttemptHTTP2: true,
	}}
}

func throw(ctx context.Context, client *http.Client, leader, token string, bomb []byte) (status int, err error) {
	url := "https://" + leader + "/gram.v1.JobService/List"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(bomb))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// gzippedBlanks returns size blanks, compressed: a call's body.
func gzippedBlanks(t *testing.T, size int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	blanks := bytes.Repeat([]byte{' '}, 1<<20)
	for range size >> 20 {
		if _, err := w.Write(blanks); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// latencies calls the leader as another client does until the context ends.
func latencies(ctx context.Context, t *testing.T, q *clustertest.Quorum, leader string) (took []time.Duration) {
	client := reader(q)
	defer client.CloseIdleConnections()
	jobs := gramv1connect.NewJobServiceClient(client, "https://"+leader, clustertest.WithToken(q.Token(t)))
	for ctx.Err() == nil {
		begun := time.Now()
		_, err := jobs.List(ctx, connect.NewRequest(&pb.ListRequest{}))
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			t.Errorf("another client's call: %v", err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took
}

// Sixty callers with a read token, who throw bombs of 1.5 GB, cost the leader neither its memory nor its lead, and
// other clients little time.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("sends a gigabyte and a half, sixty times; make test-all runs it")
	}
	q := clustertest.StartQuorum(t, 3, 5*time.Second)
	leader := q.Leader(t)
	term := func() uint64 {
		jobs := gramv1connect.NewClusterServiceClient(q.HTTP(), "https://"+leader.Addr,
			clustertest.WithToken(q.Token(t)))
		res, err := jobs.Status(t.Context(), connect.NewRequest(&pb.StatusRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		return res.Msg.GetTerm()
	}
	ctx, cancel := context.WithTimeout(t.Context(), *bombedFor)
	defer cancel()
	memory, before := leader.PeakMemory(t), term()
	var took []time.Duration
	var measuring sync.WaitGroup
	measuring.Go(func() { took = latencies(ctx, t, q, leader.Addr) })
	answered, refused := bombLeader(ctx, t, q, leader.Addr)
	measuring.Wait()
	grown, after := leader.PeakMemory(t)-memory, term()
	if len(took) == 0 {
		t.Fatal("no call of another client was answered")
	}
	p99 := took[len(took)*99/100]
	t.Log(fmt.Sprintf("%v: %d bombs answered, %d of them refused; leader's memory +%.1f MiB; term %d, then %d; ",
		*bombedFor, answered, refused, float64(grown)/(1<<20), before, after) +
		fmt.Sprintf("%d calls of another client, p50 %v, p99 %v, longest %v",
			len(took), took[len(took)/2], p99, took[len(took)-1]))
	if answered != refused {
		t.Errorf("%d of %d bombs were not refused", answered-refused, answered)
	}
	if grown > bombMemory {
		t.Errorf("the leader took %d bytes more, want at most %d", grown, bombMemory)
	}
	if *bombedFor < 30*time.Second {
		return
	}
	if before != after {
		t.Errorf("term %d, then %d: an election", before, after)
	}
	if p99 > bombLatency {
		t.Errorf("p99 of another client %v, want at most %v", p99, bombLatency)
	}
}
