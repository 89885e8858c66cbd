package coordinator

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/bounds"
	"github.com/gram-compute/gram/coordinator/gate"
)

// gzipped compresses a text of n blanks between two halves of a JSON object.
func gzipped(t *testing.T, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	blanks := bytes.Repeat([]byte{' '}, 1<<20)
	_, err := io.WriteString(w, "{")
	for left := n; left > 0 && err == nil; left -= len(blanks) {
		_, err = w.Write(blanks[:min(left, len(blanks))])
	}
	_, end := io.WriteString(w, "}")
	if err := errors.Join(err, end, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Compressed calls over the API's port: small ones are served, bombs refused, by every protocol's header.
func TestCompressedCallsAreBounded(t *testing.T) {
	t.Parallel()
	c := limited(t, bounds.Limits{}, nil)
	client, token := clientShowing(t, c), makeToken(t, c, gate.ScopeRead, 0).Reveal()
	call := func(body []byte) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+c.Addr()+
			"/gram.v1.JobService/List", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Content-Encoding", "gzip")
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	if status, text := call(gzipped(t, 100)); status != http.StatusOK {
		t.Errorf("a small compressed call: %d %s", status, text)
	}
	if status, text := call(gzipped(t, 64<<20)); status != http.StatusTooManyRequests ||
		!strings.Contains(text, "send a longer one uncompressed") {
		t.Errorf("a bomb of 64 MiB: %d %s", status, text)
	}
	if status, text := call(gzipped(t, 1500<<20)); status != http.StatusTooManyRequests ||
		!strings.Contains(text, "resource_exhausted") {
		t.Errorf("a bomb whose compressed bytes are too many: %d %s", status, text)
	}
}
