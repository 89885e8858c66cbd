package cluster

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestCuts: what is cut off is lost, in one direction too, and comes through once it is healed.
func TestCuts(t *testing.T) {
	n, err := Namespaces()
	if err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := n.Add("a"); err != nil {
		t.Fatal(err)
	}
	here, err := net.Listen("tcp", n.IP(Store)+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	go func() { // ends with the listener
		for {
			conn, err := here.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	ping := func() bool {
		argv := append(n.prefix("a"), os.Args[0], "-test.run=^TestDialer$")
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "CHAOS_DIAL="+here.Addr().String())
		return cmd.Run() == nil
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	lost := func(when string) {
		t.Helper()
		if ping() {
			t.Errorf("%s, and it came through", when)
		}
	}
	through := func(when string) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); !ping(); { // links come up in their own time
			if time.Now().After(end) {
				t.Fatalf("%s, nothing came through", when)
			}
		}
	}
	through("at first")
	must(n.Cut("a", Store))
	lost("the way there is cut")
	must(n.Cut(Store, "a"))
	must(n.Heal("a", Store))
	lost("the way back is cut")
	must(n.Cut(Clients, "a")) // the same way
	must(n.Heal(Store, "a"))
	lost("one of two cuts is left")
	must(n.Heal(Clients, "a"))
	through("healed")
}

// TestDialer is what TestCuts runs in a namespace.
func TestDialer(t *testing.T) {
	address := os.Getenv("CHAOS_DIAL")
	if address == "" {
		t.Skip("TestCuts runs this")
	}
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestLoopbackCutsNothing(t *testing.T) {
	why := errors.New("not root")
	n := Loopback(why)
	if err := n.Cut("a", "b"); !errors.Is(err, why) {
		t.Errorf("a cut without a network: %v", err)
	}
	if err := errors.Join(n.Add("a"), n.Close()); err != nil {
		t.Error(err)
	}
}

func TestProcess(t *testing.T) {
	p := &Process{Name: "sleeper", binary: "sleep", args: []string{"600"}, log: filepath.Join(t.TempDir(), "log")}
	if p.Running() || p.EndedByItself() {
		t.Error("it runs before it was started")
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	p.Pause()
	if !p.Running() || !p.Paused() {
		t.Error("a paused process does not run")
	}
	p.Resume()
	p.Kill()
	if p.Running() || p.EndedByItself() {
		t.Error("it runs after it was killed, or ended by itself")
	}
	p.binary = "false"
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	<-p.last().Done()
	if !p.EndedByItself() {
		t.Error("it ended by itself, and does not say so")
	}
}
