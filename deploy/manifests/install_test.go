package manifests

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/deploy/documented"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
)

// kubectl stands in for the real one: it keeps secrets as folders. So does helm: what it would
// install is in rendered/.
const kubectl = `#!/bin/sh
set -eu
[ "$1" = create ] && exit 0 # the namespace
[ "$1 $2 $3 $4 $5" = "--namespace gram create secret generic" ] || { echo "kubectl $*: not known here" >&2; exit 1; }
mkdir -p "secrets/$6"
to="secrets/$6"
shift 6
for arg; do
	case "$arg" in
	--from-file=*) cp "${arg#--from-file=}"/* "$to" ;;
	--from-literal=*) pair=${arg#--from-literal=}; printf %s "${pair#*=}" >"$to/${pair%%=*}" ;;
	*) echo "kubectl $arg: not known here" >&2; exit 1 ;;
	esac
done
`

// What docs/operations.md says, done: its commands make the secrets, the containers that the chart
// renders start on them as processes, all alike and at once; probes pass, a job runs. Then the first
// pod loses its volume while the others are away, and begins no second cluster.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	server := s3server.Start(t, s3server.Options{})
	bucket := server.Open(t, "gram-jobs")
	input, err := os.ReadFile("../../testdata/wordnet30-glosses.tsv.gz")
	if err == nil {
		_, err = bucket.Put(t.Context(), "in/glosses.tsv.gz", input)
	}
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	makeSecrets(t, home)
	objects, err := parse(renderings(t)["install"])
	if err != nil {
		t.Fatal(err)
	}
	coordinators, workers := of(t, objects, "StatefulSet", "-coordinator"), of(t, objects, "Deployment", "-worker")
	k := newKubernetes(t, home, coordinators, server)
	for i := range 3 {
		k.start(t, coordinators, podName(coordinators, i))
		host := podName(coordinators, i) + ".gram-coordinator.gram.svc"
		if err := k.certificate(t).VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
	k.start(t, workers, "worker-a")
	for i := range 3 {
		c := coordinators.Spec.Template.Spec.Containers[0]
		k.await(t, c.Startup, c, podName(coordinators, i))
		k.await(t, c.Readiness, c, podName(coordinators, i))
		k.await(t, c.Liveness, c, podName(coordinators, i))
	}
	w := workers.Spec.Template.Spec.Containers[0]
	k.await(t, w.Startup, w, "worker-a")
	k.await(t, w.Liveness, w, "worker-a")
	k.awaitVoters(t)
	k.refusesStrangers(t)
	k.gram(t, "submit", "-f", sources(t, "examples/glosses.yaml"), "--set",
		"spec.input.uri=s3://gram-jobs/in/glosses.tsv.gz", "--wait", "--timeout", "3m")
	if err := k.pods["worker-a"].Stop(t); err != nil {
		t.Errorf("the worker did not drain: %v\n%s", err, k.pods["worker-a"].Output())
	}
	k.loseTheFirstVolume(t, coordinators)
}

// makeSecrets does what the document says, with the values file it shows.
func makeSecrets(t *testing.T, home string) {
	t.Helper()
	document := filepath.Join("..", "..", "docs", "operations.md")
	commands, err := documented.Blocks(document, "On Kubernetes", "sh")
	if err != nil || len(commands) != 1 {
		t.Fatalf("%d blocks of commands: %v", len(commands), err)
	}
	values, err := documented.Blocks(document, "On Kubernetes", "yaml")
	if err != nil || len(values) != 1 {
		t.Fatalf("%d files of values: %v", len(values), err)
	}
	if rendered, err := os.ReadFile("values/install.yaml"); err != nil || values[0] != string(rendered) {
		t.Fatalf("the document shows other values than values/install.yaml: %v", err)
	}
	install := "\nhelm install gram deploy/chart --namespace gram --values values.yaml\n"
	if !strings.HasSuffix(commands[0], install) {
		t.Fatalf("the commands do not end with %q", install)
	}
	bin := filepath.Join(home, "bin")
	write(t, filepath.Join(bin, "kubectl"), kubectl)
	write(t, filepath.Join(bin, "helm"), "#!/bin/sh\n")
	for _, name := range []string{"kubectl", "helm"} {
		if err := os.Chmod(filepath.Join(bin, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + bin + ":" + filepath.Dir(clustertest.Binary(t)) + ":" + os.Getenv("PATH"),
		"AWS_ACCESS_KEY_ID=" + s3server.AccessKey, "AWS_SECRET_ACCESS_KEY=" + s3server.SecretKey}
	if _, err := documented.Run(t.Context(), home, env, commands[0]); err != nil {
		t.Fatal(err)
	}
}

// refusesStrangers: a worker's token alone makes no worker.
func (k *kubernetes) refusesStrangers(t *testing.T) {
	t.Helper()
	args := []string{"worker", "--addr", k.api["gram-coordinator-0"], "--cacert",
		filepath.Join(k.home, "pki", "ca.pem"), "--token-file", filepath.Join(k.home, "tokens", "worker.token")}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, said, code := clustertest.Run(ctx, t, k.home, nil, nil, args...)
	if code == 0 || !strings.Contains(said, "this cluster takes workers with a worker's certificate only") {
		t.Errorf("a worker without a certificate: exit code %d\n%s", code, said)
	}
}

// loseTheFirstVolume: it does not begin anew alone, is refused by the others, and is let in as a new
// member when the lost one is removed.
func (k *kubernetes) loseTheFirstVolume(t *testing.T, set object) {
	t.Helper()
	first := podName(set, 0)
	for _, pod := range k.pods {
		pod.Kill()
	}
	if err := os.RemoveAll(k.root(first)); err != nil {
		t.Fatal(err)
	}
	k.start(t, set, first)
	k.awaitWords(t, first, "a cluster has begun with this store on another disk than this one")
	k.awaitWords(t, first, "cannot join yet")
	k.start(t, set, podName(set, 1))
	k.start(t, set, podName(set, 2))
	<-k.pods[first].Done()
	refused := regexp.MustCompile("gram cluster remove (c-[0-9a-f]+)` first if it is gone for good").FindStringSubmatch(
		k.pods[first].Output())
	if refused == nil || k.pods[first].ExitCode() == 0 {
		t.Fatalf("the pod without its volume, exit code %d:\n%s", k.pods[first].ExitCode(), k.pods[first].Output())
	}
	k.gram(t, "cluster", "remove", refused[1])
	k.start(t, set, first)
	k.awaitVoters(t)
	if list := k.gram(t, "cluster", "members"); strings.Contains(list, refused[1]) {
		t.Errorf("the removed member is listed:\n%s", list)
	}
}

// gram calls the cluster as its people do, with the files that the document's commands made.
func (k *kubernetes) gram(t *testing.T, args ...string) string {
	t.Helper()
	var addresses []string
	for i := range len(k.api) {
		addresses = append(addresses, k.api["gram-coordinator-"+string(rune('0'+i))])
	}
	env := append([]string{"GRAM_ADDR=" + strings.Join(addresses, ","),
		"GRAM_CACERT=" + filepath.Join(k.home, "pki", "ca.pem"),
		"GRAM_TOKEN_FILE=" + filepath.Join(k.home, "tokens", "admin.token")}, k.store...)
	stdout, stderr, code := clustertest.Run(t.Context(), t, k.home, env, nil, args...)
	if code != 0 {
		t.Fatalf("gram %v: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout
}

const patience = 2 * time.Minute // of a loaded machine

func (k *kubernetes) until(t *testing.T, what string, yes func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	clustertest.Poll(ctx, t, what, yes)
}

func (k *kubernetes) await(t *testing.T, p *probe, c container, pod string) {
	t.Helper()
	k.until(t, "a probe of "+pod+" to pass", func() bool {
		if k.pods[pod].Ended() {
			t.Fatalf("%s ended:\n%s", pod, k.pods[pod].Output())
		}
		return k.passes(t, p, c, pod)
	})
}

func (k *kubernetes) awaitWords(t *testing.T, pod, words string) {
	t.Helper()
	k.until(t, pod+" to say: "+words, func() bool { return strings.Contains(k.pods[pod].Output(), words) })
}

// awaitVoters waits until three members are healthy and have a vote.
func (k *kubernetes) awaitVoters(t *testing.T) {
	t.Helper()
	voting := regexp.MustCompile(`(?m)^c-[0-9a-f]+ .* (leader|voter) +healthy`)
	k.until(t, "three healthy voters",
		func() bool { return len(voting.FindAllString(k.gram(t, "cluster", "members"), -1)) == 3 })
}

// sources is the path of a file of the repository.
func sources(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestMain(m *testing.M) {
	code := m.Run()
	clustertest.RemoveBinary()
	os.Exit(code)
}
