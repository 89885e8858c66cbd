// Package container holds the image's promises to what can be tried without an engine: the
// program alone, on an empty root that is not its own, as the image's user. That the container
// file makes such an image is `.ci/deploy`'s to check, by BuildKit's own reader.
package container

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gram-compute/gram/clustertest"
)

// Nothing but the files that the last stage copies: no shell, no library, no user, no time zones but
// its own. The program says what it is, and knows when a schedule in Berlin fires.
func TestProgramAloneOnAnEmptyRoot(t *testing.T) {
	text, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	sources := map[string]string{
		"/out/gram": clustertest.Binary(t),
		"/usr/local/go/lib/time/zoneinfo.zip": filepath.Join(strings.TrimSpace(string(goroot)), "lib", "time",
			"zoneinfo.zip"),
		"/etc/ssl/certs/ca-certificates.crt": os.DevNull, // whom to trust is the builder's
	}
	copies := regexp.MustCompile(`(?m)^COPY --from=build (\S+) (\S+)$`).FindAllStringSubmatch(string(text), -1)
	if len(copies) != len(sources) {
		t.Fatalf("the image holds %q", copies)
	}
	for _, c := range copies {
		copyFile(t, sources[c[1]], filepath.Join(root, c[2]))
	}
	zones := regexp.MustCompile(`(?m)^ENV (ZONEINFO=\S+)$`).FindStringSubmatch(string(text))
	user := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`).FindStringSubmatch(string(text))
	if zones == nil || user == nil {
		t.Fatalf("time zones %q, user %q", zones, user)
	}
	run := func(args ...string) string { return inside(t, root, zones[1], user[1], user[2], args...) }
	if said := run("version"); !strings.Contains(said, "gram ") {
		t.Errorf("version: %q", said)
	}
	if said := run("schedule", "preview", "--cron", "30 2 * * *", "--zone", "Europe/Berlin", "--from",
		"2026-07-01T00:00:00Z", "-n", "1"); !strings.Contains(said, "2026-07-01T00:30:00Z") {
		t.Errorf("preview: %q", said)
	}
}

// What .dockerignore keeps from the build is not part of the program.
func TestTheBuildIsGivenWhatItNeeds(t *testing.T) {
	text, err := os.ReadFile("../../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", "list", "-deps", "-f",
		`{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{range .SFiles}}{{$dir}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}
{{end}}{{end}}{{end}}`, "./cmd/gram")
	list.Dir = filepath.Join("..", "..")
	files, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(list.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(files), root); n < 100 {
		t.Fatalf("the program is of %d files", n)
	}
	for ignored := range strings.Lines(string(text)) {
		ignored = strings.TrimSpace(ignored)
		// of patterns there are tests and their data only
		if ignored == "" || ignored[0] == '#' || strings.ContainsAny(ignored, "*!") {
			continue
		}
		for file := range strings.Lines(string(files)) {
			if name, _ := filepath.Rel(root, strings.TrimSpace(file)); strings.HasPrefix(name, ignored+"/") {
				t.Errorf("%s is ignored, and %s is part of the program", ignored, name)
			}
		}
	}
}

// inside runs the image's program on root, as its user, with that one variable in its environment.
func inside(t *testing.T, root, env, uid, gid string, args ...string) string {
	t.Helper()
	id, err := strconv.ParseUint(uid, 10, 32)
	group, err2 := strconv.ParseUint(gid, 10, 32)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/gram", args...)
	cmd.Env, cmd.Dir = []string{env}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root,
		Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(group), NoSetGroups: os.Getuid() != 0}}
	if os.Getuid() != 0 { // a namespace in which this user is the image's, and may change the root
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: int(id), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: int(group), HostID: os.Getgid(), Size: 1}}
	}
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err = cmd.Run()
	if os.Getuid() != 0 && (errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC)) &&
		os.Getenv("REQUIRE_CHROOT") == "" {
		t.Skipf("this user may not make a namespace (%v); set REQUIRE_CHROOT=1 to make this a failure", err)
	}
	if err != nil {
		t.Fatalf("gram %v: %v\n%s", args, err, complaints.String())
	}
	return out.String()
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err == nil {
		_, err = io.Copy(out, in)
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	clustertest.RemoveBinary()
	os.Exit(code)
}
