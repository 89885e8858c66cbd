package dir_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/dir"
)

func put(t testing.TB, s objstore.Store, key, text string) objstore.Info {
	t.Helper()
	info, err := s.Put(t.Context(), key, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestReadOnly(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "f"), "x")
	s := open(t, root, dir.Options{ReadOnly: true})
	if _, err := s.Put(t.Context(), "g", nil); !errors.Is(err, objstore.ErrDenied) {
		t.Errorf("put: %v", err)
	}
	if err := s.Delete(t.Context(), "f"); !errors.Is(err, objstore.ErrDenied) {
		t.Errorf("delete: %v", err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	if _, err := dir.Open(filepath.Join(root, "missing"), dir.Options{ReadOnly: true}); !errors.Is(err,
		objstore.ErrNotFound) {
		t.Errorf("a missing folder: %v", err)
	}
	if _, err := dir.Open(filepath.Join(root, "f"), dir.Options{ReadOnly: true}); err == nil {
		t.Error("a file was opened as a folder")
	}
}

// TestPrivateFolder: files being written are never objects, here or in a store below.
func TestPrivateFolder(t *testing.T) {
	root := t.TempDir()
	put(t, open(t, filepath.Join(root, "below"), dir.Options{}), "k", "x")
	s := open(t, root, dir.Options{})
	put(t, s, "k", "x")
	write(t, filepath.Join(root, ".gram.tmp", "half"), "written")
	write(t, filepath.Join(root, "below", ".gram.tmp", "half"), "written")
	wantKeys(t, s, "below/k", "k")
	for _, key := range []string{".gram.tmp/half", ".gram.tmp", "below/.gram.tmp/half"} {
		if _, err := s.Stat(t.Context(), key); !errors.Is(err, objstore.ErrInvalidKey) {
			t.Errorf("stat %s: %v", key, err)
		}
		if _, err := s.Put(t.Context(), key, nil); !errors.Is(err, objstore.ErrInvalidKey) {
			t.Errorf("put %s: %v", key, err)
		}
	}
}

func TestLeftoversAreSwept(t *testing.T) {
	root := t.TempDir()
	fresh, stale := filepath.Join(root, ".gram.tmp", "fresh"), filepath.Join(root, ".gram.tmp", "stale")
	write(t, fresh, "another process is writing this")
	write(t, stale, "the process that wrote this is dead")
	for name, age := range map[string]time.Duration{fresh: 23 * time.Hour, stale: 25 * time.Hour} {
		then := time.Now().Add(-age)
		if err := os.Chtimes(name, then, then); err != nil {
			t.Fatal(err)
		}
	}
	open(t, root, dir.Options{ReadOnly: true})
	if _, err := os.Stat(stale); err != nil {
		t.Errorf("a read-only store swept: %v", err)
	}
	s := open(t, root, dir.Options{})
	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the stale one: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("the fresh one: %v", err)
	}
	for age, want := range map[time.Duration]int{24 * time.Hour: 0, 22 * time.Hour: 1} {
		if n, err := s.AbortUploads(t.Context(), "jobs/", time.Now().Add(-age)); err != nil || n != want {
			t.Errorf("%d leftovers older than %s (%v), want %d", n, age, err, want)
		}
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	root := t.TempDir()
	s := open(t, root, dir.Options{})
	put(t, s, "a/b/c", "x")
	put(t, s, "a/b/c", "y")
	// fails after the file is written
	if _, err := s.Put(t.Context(), "a/b", nil); !errors.Is(err, objstore.ErrInvalidKey) {
		t.Errorf("put on a folder: %v", err)
	}
	if temps, err := os.ReadDir(filepath.Join(root, ".gram.tmp")); err != nil || len(temps) != 0 {
		t.Errorf("in the private folder: %v, %v", temps, err)
	}
	if err := s.Delete(t.Context(), "a/b/c"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "a")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty folders: %v", err)
	}
}

// TestEmptyFolders, as an outside program leaves them, are in nobody's way.
func TestEmptyFolders(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "a/b/c"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, root, dir.Options{})
	wantKeys(t, s)
	put(t, s, "a", "x")
	wantKeys(t, s, "a")
}

// TestTwoStoresOneFolder: two processes may share a folder. Equal Puts keep the first file.
func TestTwoStoresOneFolder(t *testing.T) {
	root := t.TempDir()
	a, b := open(t, root, dir.Options{}), open(t, root, dir.Options{})
	first := put(t, a, "k", "text")
	if second := put(t, b, "k", "text"); second != first {
		t.Errorf("%+v after %+v", second, first)
	}
	if third := put(t, b, "k", "TEXT"); third.ETag == first.ETag || etagOf(t, a, "k") != third.ETag {
		t.Errorf("%+v after %+v", third, first)
	}
}

// TestFoldersComeAndGo: Deletes take folders away under the hands of Puts into them.
func TestFoldersComeAndGo(t *testing.T) {
	root := t.TempDir()
	var g errgroup.Group
	for i := range 4 {
		s := open(t, root, dir.Options{}) // as if each were a process of its own
		g.Go(func() error {
			for n := range 40 {
				key, text := fmt.Sprintf("a/b/%d", i), fmt.Sprintf("%d", n)
				if _, err := s.Put(t.Context(), key, []byte(text)); err != nil {
					return err
				}
				if got, _, err := objstore.ReadAll(t.Context(), s, key, objstore.GetOptions{},
					10); string(got) != text {
					return fmt.Errorf("%s holds %q, %w; want %q", key, got, err, text)
				}
				if err := s.Delete(t.Context(), key); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, open(t, root, dir.Options{}))
}

// TestStamp: the mtime is of the fine clock. The kernel's own, some milliseconds
// behind, could give two versions one stamp.
func TestStamp(t *testing.T) {
	root := t.TempDir()
	s := open(t, root, dir.Options{})
	for i := range 20 {
		before := time.Now()
		put(t, s, "k", fmt.Sprint(i))
		after := time.Now()
		fi, err := os.Stat(filepath.Join(root, "k"))
		if err != nil {
			t.Fatal(err)
		}
		if fi.ModTime().Before(before) || fi.ModTime().After(after) {
			t.Fatalf("put between %v and %v, stamped %v", before, after, fi.ModTime())
		}
	}
}

func BenchmarkPut64KiB(b *testing.B) {
	s := open(b, b.TempDir(), dir.Options{})
	data := make([]byte, 64<<10)
	b.SetBytes(int64(len(data)))
	for i := 0; b.Loop(); i++ {
		data[0], data[1], data[2] = byte(i), byte(i>>8), byte(i>>16)
		if _, err := s.Put(b.Context(), fmt.Sprintf("jobs/1/%d", i), data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet64KiB(b *testing.B) {
	s := open(b, b.TempDir(), dir.Options{})
	put(b, s, "jobs/1/k", string(make([]byte, 64<<10)))
	b.SetBytes(64 << 10)
	for b.Loop() {
		if _, _, err := objstore.ReadAll(b.Context(), s, "jobs/1/k", objstore.GetOptions{}, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList1000(b *testing.B) {
	root := b.TempDir()
	for i := range 1000 {
		name := filepath.Join(root, fmt.Sprint(i%10), fmt.Sprint(i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	s := open(b, root, dir.Options{ReadOnly: true})
	for b.Loop() {
		n := 0
		for _, err := range s.List(b.Context(), "") {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 1000 {
			b.Fatal(n)
		}
	}
}
