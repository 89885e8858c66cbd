// Package systemd holds the units to their hardening, and starts what they start, as processes.
// `.ci/units` has systemd itself read them.
package systemd

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
)

// unit is its settings, by section and name; a setting may be given several times.
type unit map[string]map[string][]string

// read reads a unit or an environment file strictly: a line is a comment, a section or a setting.
func read(t *testing.T, file string) unit {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	u, section := unit{"": {}}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		name, value, setting := strings.Cut(line, "=")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			section = line[1 : len(line)-1]
			u[section] = map[string][]string{}
		case setting && name != "" && name == strings.TrimSpace(name):
			u[section][name] = append(u[section][name], value)
		default:
			t.Fatalf("%s: %q is no setting", file, line)
		}
	}
	return u
}

// hardening is what both units say, to the letter.
var hardening = map[string]string{
	"NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "AmbientCapabilities": "", "ProtectSystem": "strict",
	"ProtectHome": "yes",
	"ProtectProc": "invisible", "ProtectClock": "yes", "ProtectHostname": "yes", "ProtectKernelLogs": "yes",
	"ProtectKernelModules":  "yes",
	"ProtectKernelTunables": "yes", "ProtectControlGroups": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes",
	"DevicePolicy": "closed",
	"PrivateUsers": "yes", "RemoveIPC": "yes", "LockPersonality": "yes", "MemoryDenyWriteExecute": "yes",
	"RestrictNamespaces": "yes",
	"RestrictRealtime":   "yes", "RestrictSUIDSGID": "yes", "SystemCallArchitectures": "native",
	"SystemCallErrorNumber": "EPERM",
	"UMask":                 "0077", "Restart": "on-failure", "RestartPreventExitStatus": "2 4", "LimitCORE": "0",
}

func TestUnitsAreHardened(t *testing.T) {
	for _, name := range []string{"gram-coordinator", "gram-worker"} {
		service := read(t, name+".service")["Service"]
		for setting, want := range hardening {
			if got := service[setting]; !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %s is %q, not %q", name, setting, got, want)
			}
		}
		if got := service["SystemCallFilter"]; !slices.Equal(got,
			[]string{"@system-service", "~@privileged @resources"}) {
			t.Errorf("%s: SystemCallFilter is %q", name, got)
		}
		for _, bound := range []string{"MemoryMax", "TasksMax", "LimitNOFILE", "TimeoutStopSec",
			"RestrictAddressFamilies"} {
			if len(service[bound]) != 1 {
				t.Errorf("%s: %s is %q", name, bound, service[bound])
			}
		}
		if user, dynamic := service["User"], service["DynamicUser"]; len(user) == 0 && len(dynamic) == 0 ||
			slices.Contains(user, "root") {
			t.Errorf("%s runs as %q", name, user)
		}
	}
	worker := read(t, "gram-worker.service")["Service"]
	drain, err := time.ParseDuration(flagOf(t, worker["ExecStart"][0], "--drain-timeout"))
	stop, err2 := time.ParseDuration(worker["TimeoutStopSec"][0])
	if err != nil || err2 != nil || stop < drain+10*time.Second {
		t.Errorf("a worker drains for %v and is killed after %v (%v, %v)", drain, stop, err, err2)
	}
}

func flagOf(t *testing.T, command, flag string) string {
	t.Helper()
	_, rest, found := strings.Cut(command, flag+"=")
	if !found {
		t.Fatalf("%q has no %s", command, flag)
	}
	value, _, _ := strings.Cut(rest, " ")
	return value
}

// What the units start, with the environment files as they are but for addresses and places, is a cluster:
// the coordinator serves, and the worker registers with its credential.
func TestUnitsStartACluster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	home := t.TempDir()
	api, raft := clustertest.FreeAddress(t), clustertest.FreeAddress(t)
	here := strings.NewReplacer(
		"/usr/local/bin/gram", "gram", "/var/lib/gram", filepath.Join(home, "lib"), "/etc/gram",
		filepath.Join(home, "etc"),
		"%t/gram-worker", filepath.Join(home, "run"), "%d", filepath.Join(home, "credentials"),
		"10.0.0.5:7480,10.0.0.6:7480,10.0.0.7:7480", api, "10.0.0.5:7480", api, "10.0.0.5:7481", raft,
		"s3://gram-jobs", "mem://work")
	for _, folder := range []string{"lib", "etc", "run", "credentials"} {
		if err := os.Mkdir(filepath.Join(home, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	coordinator := start(t, home, here, "gram-coordinator.service", "coordinator.env")
	await(t, coordinator, "gram: coordinator on ")
	bringCredentials(t, home, here)
	refusesStrangers(t, filepath.Join(home, "etc"), api)
	worker := start(t, home, here, "gram-worker.service", "worker.env")
	await(t, worker, "registered")
	if _, err := os.Stat(filepath.Join(home, "run", "alive")); err != nil {
		t.Errorf("the worker shows no life: %v", err)
	}
	for _, p := range []*clustertest.Process{worker, coordinator} {
		if err := p.Stop(t); err != nil {
			t.Errorf("%v\n%s", err, p.Output())
		}
	}
}

// bringCredentials makes a worker's certificate, puts what a worker's machine needs into its /etc/gram, and loads
// credentials as systemd does.
func bringCredentials(t *testing.T, home string, here *strings.Replacer) {
	t.Helper()
	etc := filepath.Join(home, "etc")
	_, said, code := clustertest.Run(t.Context(), t, home, nil, nil, "pki", "issue", "--ca",
		filepath.Join(home, "lib", "pki"), "--role", "worker", "--out", etc)
	if code != 0 {
		t.Fatal(said)
	}
	copyFile(t, filepath.Join(home, "lib", "worker.token"), filepath.Join(etc, "worker.token"))
	for _, credential := range read(t, "gram-worker.service")["Service"]["LoadCredential"] {
		name, from, _ := strings.Cut(here.Replace(credential), ":")
		copyFile(t, from, filepath.Join(home, "credentials", name))
	}
}

// refusesStrangers: a worker's token alone makes no worker.
func refusesStrangers(t *testing.T, etc, api string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // of a loaded machine
	defer cancel()
	_, said, code := clustertest.Run(ctx, t, etc, nil, nil, "worker", "--addr", api, "--cacert",
		filepath.Join(etc, "ca.pem"), "--token-file", filepath.Join(etc, "worker.token"))
	if code == 0 || !strings.Contains(said, "this cluster takes workers with a worker's certificate only") {
		t.Errorf("a worker without a certificate: exit code %d\n%s", code, said)
	}
}

// start runs a unit's command as systemd would split it, in the environment of its file and its own.
func start(t *testing.T, home string, here *strings.Replacer, unitFile, envFile string) *clustertest.Process {
	t.Helper()
	service, flags := read(t, unitFile)["Service"], ""
	var env []string
	for name, values := range read(t, envFile)[""] {
		value := here.Replace(strings.Trim(values[0], `"`))
		if name == "GRAM_FLAGS" {
			flags = value
		}
		env = append(env, name+"="+value)
	}
	for _, pair := range service["Environment"] {
		env = append(env, here.Replace(pair))
	}
	command := strings.Fields(strings.Replace(here.Replace(service["ExecStart"][0]), "$GRAM_FLAGS", flags, 1))
	if command[0] != "gram" {
		t.Fatalf("%s starts %q", unitFile, command[0])
	}
	return clustertest.Start(t, home, env, command[1:]...)
}

func await(t *testing.T, p *clustertest.Process, words string) {
	t.Helper()
	clustertest.Poll(t.Context(), t, words, func() bool {
		if p.Ended() {
			t.Fatalf("it ended:\n%s", p.Output())
		}
		return strings.Contains(p.Output(), words)
	})
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
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
