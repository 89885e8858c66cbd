package lead

import (
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

func TestMayMove(t *testing.T) {
	servers := []raft.Server{{ID: "c1", Address: "a:1"}, {ID: "c2", Address: "b:1", Suffrage: raft.Nonvoter}}
	for _, c := range []struct {
		id, address string
		same        bool
		says        string // "": corrected
	}{
		{"c2", "x:1", true, ""},
		{"c2", "b:1", true, ""}, // told twice
		{"c2", "x:1", false, "no member"},
		{"c3", "x:1", true, "no member"},
		{"c2", "a:1", true, "is the address of member c1"},
	} {
		server, err := mayMove(servers, raft.ServerID(c.id), raft.ServerAddress(c.address), c.same)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || err == nil &&
			server.Suffrage != raft.Nonvoter {
			t.Errorf("%+v: %v %v", c, server, err)
		}
	}
}

func TestMayJoinAndRemove(t *testing.T) {
	voter := func(id, address string) raft.Server {
		return raft.Server{ID: raft.ServerID(id), Address: raft.ServerAddress(address)}
	}
	three := []raft.Server{voter("c1", "a:1"), voter("c2", "b:1"), {ID: "c3", Address: "c:1", Suffrage: raft.Nonvoter}}
	for _, c := range []struct {
		id, address string
		empty       bool
		known       bool
		says        string // "": let in
	}{
		{"c4", "d:1", true, false, ""},
		{"c3", "c:1", true, true, ""}, // asked twice: it never voted
		{"c2", "b:1", false, true, ""},
		{"c2", "b:1", true, false, "comes back under another id"},
		{"c2", "x:1", true, false, "comes back under another id"},
		{"c2", "x:1", false, false, "is a member at b:1"},
		{"c4", "b:1", true, false, "is the address of member c2"},
	} {
		known, err := mayJoin(three, raft.ServerID(c.id), raft.ServerAddress(c.address), c.empty)
		if known != c.known || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v %v", c, known, err)
		}
	}
	if _, err := mayJoin([]raft.Server{voter("c1", "[::]:7481")}, "c2", "b:1", true); err == nil ||
		!strings.Contains(err.Error(), "--advertise") {
		t.Errorf("a leader that others cannot reach: %v", err)
	}
	servers := []raft.Server{voter("c1", "a:1"), voter("c2", "b:1"), voter("c3", "c:1")}
	for _, c := range []struct {
		id      string
		healthy string
		says    string
	}{
		{"c2", "c1 c2 c3", ""},
		{"c3", "c1 c2", ""}, // the one that is gone
		{"c2", "c1 c2", "only 1 of 2"},
		{"c1", "c1 c2 c3", "leads"},
		{"c7", "c1 c2 c3", "no member"},
	} {
		err := mayRemove(servers, raft.ServerID(c.id), "c1",
			func(id raft.ServerID) bool { return strings.Contains(c.healthy, string(id)) })
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for address, want := range map[string]bool{
		"c1.example:7481": true, "10.0.0.5:7481": true, "[::1]:7481": true,
		"0.0.0.0:7481": false, "[::]:7481": false, ":7481": false, "c1": false, "c1:0": false, "": false,
	} {
		if reachable(address) != want {
			t.Errorf("reachable(%q) = %v", address, !want)
		}
	}
}
