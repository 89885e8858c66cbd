package scratch

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A child of TestAKilledProcessLeavesNothing keeps a file and waits to be killed.
func TestMain(m *testing.M) {
	parent := os.Getenv("GRAM_TEST_SCRATCH")
	if parent == "" {
		os.Exit(m.Run())
	}
	d, err := Open(parent, 100)
	if err == nil {
		_, err = d.Put([]byte("left"))
	}
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.Write([]byte("ready"))
	io.Copy(io.Discard, os.Stdin)
}

func openDir(t *testing.T, limit int64) *Dir {
	t.Helper()
	d, err := Open(filepath.Join(t.TempDir(), "scratch"), limit)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func put(t *testing.T, d *Dir, data string) *File {
	t.Helper()
	f, err := d.Put([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFilesByHand(t *testing.T) {
	d := openDir(t, 10)
	a, b := put(t, d, "seven b"), put(t, d, "")
	for f, want := range map[*File]string{a: "seven b", b: ""} {
		if got, err := f.Read(); err != nil || string(got) != want {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
		if info, err := os.Stat(f.path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("a file has the mode %v, %v", info.Mode(), err)
		}
	}
	if info, err := os.Stat(d.path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has the mode %v, %v", info.Mode(), err)
	}
	if _, err := d.Put([]byte("four")); !errors.Is(err, ErrFull) || d.Used() != 7 {
		t.Errorf("four bytes beyond ten: %v, %d in use", err, d.Used())
	}
	if err := a.Remove(); err != nil || d.Used() != 0 {
		t.Errorf("removed: %v, %d bytes in use", err, d.Used())
	}
	if _, err := a.Read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read what was removed: %v", err)
	}
	put(t, d, "ten bytes.")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Dir(d.path)); err != nil || len(left) > 0 {
		t.Errorf("closed, and %v is left (%v)", left, err)
	}
}

func TestDamageIsFound(t *testing.T) {
	const written = "what was written"
	for name, damage := range map[string]func(path string) error{
		"a flipped bit": func(path string) error {
			data := []byte(written)
			data[3] ^= 4
			return os.WriteFile(path, data, 0o600)
		},
		"cut":        func(path string) error { return os.Truncate(path, 5) },
		"emptied":    func(path string) error { return os.Truncate(path, 0) },
		"lengthened": func(path string) error { return os.WriteFile(path, []byte(written+"."), 0o600) },
		"replaced by a link": func(path string) error {
			return errors.Join(os.Rename(path, path+".moved"), os.Symlink(path+".moved", path))
		},
	} {
		d := openDir(t, 100)
		f := put(t, d, written)
		if err := damage(f.path); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Read(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: read %q, %v", name, got, err)
		}
		if err := errors.Join(f.Remove(), d.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A disk that is full has taken a part of a file: nothing is left of it, and later files are whole.
func TestAFullDisk(t *testing.T) {
	d := openDir(t, 100)
	d.write = func(path string, data []byte) error {
		return errors.Join(writeFile(path, data[:2]), syscall.ENOSPC)
	}
	if _, err := d.Put([]byte("never whole")); !errors.Is(err, syscall.ENOSPC) || d.Used() != 0 {
		t.Errorf("%v, %d bytes in use", err, d.Used())
	}
	if left, err := os.ReadDir(d.path); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
	d.write = writeFile
	if got, err := put(t, d, "whole").Read(); err != nil || string(got) != "whole" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestAKilledProcessLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	other := filepath.Join(parent, "not-ours")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "GRAM_TEST_SCRATCH="+parent)
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, len("ready"))
	if _, err := io.ReadFull(stdout, ready); err != nil || !bytes.Equal(ready, []byte("ready")) {
		t.Fatalf("the child says %q, %v", ready, err)
	}
	beside, err := Open(parent, 100) // while it lives, its files stay
	if err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(parent, madeOf+"*", "*")); err != nil || len(left) != 1 {
		t.Fatalf("beside a process that lives there is %v (%v)", left, err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Fatal("the child was not killed")
	}
	after, err := Open(parent, 100)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(parent, madeOf+"*")); err != nil || len(left) != 2 {
		t.Errorf("%v is left of three directories, of which two are held (%v)", left, err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("what is not ours: %v", err)
	}
	if err := errors.Join(beside.Close(), after.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefusesWhatIsNoDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, 1); err == nil {
		t.Error("a file was taken for a directory")
	}
}
