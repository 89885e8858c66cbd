package dir_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/dir"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func listing(t *testing.T, s objstore.Store, prefix string) (keys []string, err error) {
	t.Helper()
	for info, err := range s.List(t.Context(), prefix) {
		if err != nil {
			return keys, err
		}
		keys = append(keys, info.Key)
	}
	return keys, nil
}

func wantKeys(t *testing.T, s objstore.Store, want ...string) {
	t.Helper()
	if got, err := listing(t, s, ""); err != nil || !slices.Equal(got, want) {
		t.Errorf("the store lists %q, %v; want %q", got, err, want)
	}
}

func etagOf(t *testing.T, s objstore.Store, key string) string {
	t.Helper()
	info, err := s.Stat(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return info.ETag
}

// TestLinksOut: whichever way a symbolic link leaves the root, nothing is read or written there.
func TestLinksOut(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	write(t, secret, "secret")
	for name, target := range map[string]string{
		"absolute": secret, "relative": "../" + filepath.Base(outside) + "/secret", "folder": outside,
	} {
		t.Run(name, func(t *testing.T) {
			link := filepath.Join(root, "link")
			if err := os.Symlink(target, link); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(link)
			s := open(t, root, dir.Options{})
			for _, key := range []string{"link", "link/secret", "link/new"} {
				if _, _, err := s.Get(t.Context(), key, objstore.GetOptions{}); err == nil {
					t.Errorf("get %s succeeded", key)
				}
				if _, err := s.Stat(t.Context(), key); err == nil {
					t.Errorf("stat %s succeeded", key)
				}
			}
			for _, key := range []string{"link/secret", "link/new"} {
				if _, err := s.Put(t.Context(), key, []byte("overwritten")); err == nil {
					t.Errorf("put %s succeeded", key)
				}
				_ = s.Delete(t.Context(), key) // may say that there is nothing
			}
			if keys, err := listing(t, s, ""); !errors.Is(err, objstore.ErrInvalidKey) ||
				!strings.Contains(err.Error(), "link") {
				t.Errorf("list: %q, %v; want an error naming the link", keys, err)
			}
		})
	}
	if got, err := os.ReadFile(secret); string(got) != "secret" {
		t.Errorf("the file outside holds %q, %v", got, err)
	}
	if entries, err := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
}

func TestLinkInside(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "real/f"), "text")
	if err := os.Symlink("real/f", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	s := open(t, root, dir.Options{ReadOnly: true})
	wantKeys(t, s, "link", "real/f")
	got, _, err := objstore.ReadAll(t.Context(), s, "link", objstore.GetOptions{IfMatch: etagOf(t, s, "link")}, 10)
	if string(got) != "text" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPipe: opening a named pipe for reading would wait without end.
func TestPipe(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, root, dir.Options{})
	if _, _, err := s.Get(t.Context(), "pipe", objstore.GetOptions{}); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Stat(t.Context(), "pipe"); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("stat: %v", err)
	}
	wantKeys(t, s)
	if keys, err := listing(t, s, "pipe/"); err != nil || len(keys) != 0 {
		t.Errorf("below the pipe: %q, %v", keys, err)
	}
}

func TestNamesThatAreNoKeys(t *testing.T) {
	for _, name := range []string{"a\nb", "\xff"} {
		root := t.TempDir()
		write(t, filepath.Join(root, name), "x")
		if keys, err := listing(t, open(t, root, dir.Options{}), ""); !errors.Is(err, objstore.ErrInvalidKey) {
			t.Errorf("%q: %q, %v", name, keys, err)
		}
	}
}

// TestEditInPlace: the same size, the same inode, and the times set back.
func TestEditInPlace(t *testing.T) {
	root := t.TempDir()
	name := filepath.Join(root, "f")
	write(t, name, "before")
	s := open(t, root, dir.Options{ReadOnly: true})
	before := etagOf(t, s, "f")
	fi, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	waitForTick(t, root)
	write(t, name, "after!")
	if err := os.Chtimes(name, fi.ModTime(), fi.ModTime()); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(name); err != nil || !after.ModTime().Equal(fi.ModTime()) || after.Size() != fi.Size() {
		t.Fatalf("the test did not set the times back: %v", err)
	}
	if _, _, err := s.Get(t.Context(), "f", objstore.GetOptions{IfMatch: before}); !errors.Is(err,
		objstore.ErrChanged) {
		t.Errorf("get with the ETag from before: %v", err)
	}
	waitForTick(t, root)
	write(t, name, "after?")
	if etagOf(t, s, "f") == before {
		t.Error("the ETag is as before")
	}
}

// waitForTick writes a file until the file system's clock has moved on.
func waitForTick(t *testing.T, root string) {
	t.Helper()
	probe := filepath.Join(root, "..", "probe")
	stamp := func() time.Time {
		write(t, probe, "x")
		fi, err := os.Stat(probe)
		if err != nil {
			t.Fatal(err)
		}
		return fi.ModTime()
	}
	for first := stamp(); !stamp().After(first); {
	}
}

func TestFileWrittenWhileBeingRead(t *testing.T) {
	text := strings.Repeat("0123456789", 100_000)
	for name, c := range map[string]struct {
		change func(name string) error
		want   error
	}{
		"in place": {func(name string) error { return os.WriteFile(name, []byte(strings.ToUpper(text)), 0o644) },
			objstore.ErrChanged},
		"longer": {func(name string) error {
			f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("more")
			return errors.Join(err, f.Close())
		}, objstore.ErrChanged},
		"cut short": {func(name string) error { return os.Truncate(name, 500) }, io.ErrUnexpectedEOF},
		"replaced":  {func(name string) error { return os.Rename(write2(name), name) }, nil},
		"removed":   {os.Remove, nil},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			file := filepath.Join(root, "f")
			write(t, file, text)
			s := open(t, root, dir.Options{ReadOnly: true})
			r, _, err := s.Get(t.Context(), "f", objstore.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			head := make([]byte, 1000)
			if _, err := io.ReadFull(r, head); err != nil {
				t.Fatal(err)
			}
			waitForTick(t, root)
			if err := c.change(file); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(r)
			if !errors.Is(err, c.want) {
				t.Errorf("error is %v, want %v", err, c.want)
			}
			if err == nil && string(head)+string(rest) != text {
				t.Error("no error, and other bytes")
			}
		})
	}
}

// write2 writes another file beside name and gives its name.
func write2(name string) string {
	other := name + ".new"
	if err := os.WriteFile(other, []byte("other"), 0o644); err != nil {
		panic(err)
	}
	return other
}
