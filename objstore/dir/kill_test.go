package dir_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/dir"
)

// writerVariable makes the test binary a process that only puts.
const writerVariable = "GRAM_TEST_DIR_WRITER"

func TestMain(m *testing.M) {
	if root := os.Getenv(writerVariable); root != "" {
		fmt.Fprintln(os.Stderr, putForEver(root))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// putForEver puts a few keys again and again and prints each that is done.
func putForEver(root string) error {
	s, err := dir.Open(root, dir.Options{})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		key := fmt.Sprintf("d%d/k%d", n%3, n%5)
		if _, err := s.Put(context.Background(), key, version(n)); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// version gives the n-th bytes: the number, then as many filler bytes as it says.
func version(n int) []byte {
	return append(fmt.Appendf(nil, "%d\n", n), bytes.Repeat([]byte{byte('a' + n%26)}, 100_000+n)...)
}

// TestKilledWriter: whenever the writer dies, every object is one whole version,
// and no older than the last that the writer reported for its key.
func TestKilledWriter(t *testing.T) {
	root := t.TempDir()
	for round := range 5 {
		reported := runWriterUntil(t, root, 7*round+3)
		s := open(t, root, dir.Options{})
		found := 0
		for info, err := range s.List(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			found++
			got, _, err := objstore.ReadAll(t.Context(), s, info.Key, objstore.GetOptions{IfMatch: info.ETag}, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			number, _, _ := bytes.Cut(got, []byte("\n"))
			n, err := strconv.Atoi(string(number))
			if err != nil || !bytes.Equal(got, version(n)) {
				t.Errorf("%s holds %d bytes that are no version", info.Key, len(got))
			}
			if n < reported[info.Key] {
				t.Errorf("%s holds version %d, though %d was reported done", info.Key, n, reported[info.Key])
			}
		}
		if found < len(reported) {
			t.Errorf("%d objects, %d reported", found, len(reported))
		}
	}
}

// runWriterUntil kills the writer once it has reported n Puts, and gives the last version per key.
func runWriterUntil(t *testing.T, root string, n int) map[string]int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), writerVariable+"="+root)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reported := map[string]int{}
	lines := bufio.NewScanner(out)
	for i := 0; lines.Scan(); i++ {
		done, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		reported[fmt.Sprintf("d%d/k%d", done%3, done%5)] = done
		if i == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(reported) == 0 {
		t.Fatalf("the writer ended by itself after %d reports: %v", len(reported), err)
	}
	return reported
}
