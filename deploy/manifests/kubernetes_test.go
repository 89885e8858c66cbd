package manifests

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
)

// kubernetes runs the containers of pods as processes: volumes are folders, secrets are what
// `kubectl create secret` was given, and the names of pods are addresses on loopback.
type kubernetes struct {
	home    string
	secrets string
	api     map[string]string // of a coordinator's pod: the address of its API
	names   *strings.Replacer // addresses as pods know them, and as they are here
	store   []string          // the environment in which S3 is the test's server
	pods    map[string]*clustertest.Process
}

func newKubernetes(t *testing.T, home string, set object, server *s3server.Server) *kubernetes {
	k := &kubernetes{home: home, secrets: filepath.Join(home, "secrets"), api: map[string]string{}, store: server.Env(),
		pods: map[string]*clustertest.Process{}}
	var pairs []string
	for i := range *set.Spec.Replicas {
		name := podName(set, i)
		host := name + "." + set.Spec.ServiceName + ".gram.svc"
		api, raft := clustertest.FreeAddress(t), clustertest.FreeAddress(t)
		k.api[name] = api
		pairs = append(pairs, host+":7480", api, host+":7481", raft)
	}
	k.names = strings.NewReplacer(pairs...)
	return k
}

func podName(o object, i int) string { return o.Metadata.Name + "-" + string(rune('0'+i)) }

func (k *kubernetes) root(pod string) string { return filepath.Join(k.home, "pods", pod) }

// start starts a pod's container on its volumes.
func (k *kubernetes) start(t *testing.T, o object, pod string) {
	t.Helper()
	p := o.Spec.Template.Spec
	c := p.Containers[0]
	for _, m := range c.Mounts {
		k.mount(t, p, m, pod)
	}
	var env []string
	for _, from := range c.EnvFrom {
		for name, value := range k.secret(t, from.Secret.Name) {
			env = append(env, name+"="+value)
		}
	}
	for _, e := range c.Env {
		env = append(env, e.Name+"="+k.here(e.Value, pod, c.Mounts))
	}
	var args []string
	for _, arg := range c.Args {
		args = append(args, k.here(arg, pod, c.Mounts))
	}
	if c.Name == "coordinator" {
		args = append(args, "--promote-after=1s") // the one flag that is not the chart's: nobody should wait here
	}
	k.pods[pod] = clustertest.Start(t, k.home, append(env, k.store...), args...)
}

// here is an argument of a container as a process on this machine takes it.
func (k *kubernetes) here(text, pod string, mounts []mount) string {
	text = strings.ReplaceAll(text, "$(POD_NAME)", pod)
	text = k.names.Replace(text)
	if api, ok := k.api[pod]; ok {
		raft := k.names.Replace(pod + ".gram-coordinator.gram.svc:7481")
		text = strings.NewReplacer("--listen=:7480", "--listen="+api, "--raft=:7481", "--raft="+raft).Replace(text)
	}
	name, value, flag := strings.Cut(text, "=")
	if !flag {
		name, value = "", text
	}
	for _, m := range mounts {
		if value == m.Path || strings.HasPrefix(value, m.Path+"/") {
			value = k.root(pod) + value
			break
		}
	}
	if flag {
		return name + "=" + value
	}
	return value
}

// mount makes a volume; what a pod has kept on a claim stays.
func (k *kubernetes) mount(t *testing.T, p *pod, m mount, pod string) {
	t.Helper()
	at := filepath.Join(k.root(pod), m.Path)
	for _, v := range p.Volumes {
		if v.Name != m.Name || v.Secret == nil {
			continue
		}
		for key, value := range k.secret(t, v.Secret.Name) {
			file := filepath.Join(at, key)
			if m.SubPath != "" {
				file = at
			}
			shown := len(v.Secret.Items) == 0 ||
				slices.ContainsFunc(v.Secret.Items, func(i item) bool { return i.Key == key })
			if shown && (m.SubPath == "" || m.SubPath == key) {
				write(t, file, value)
			}
		}
		return
	}
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
}

func (k *kubernetes) secret(t *testing.T, name string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(k.secrets, name, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no secret %s: %v", name, err)
	}
	keys := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		keys[filepath.Base(file)] = string(text)
	}
	return keys
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// passes asks a probe, as a kubelet does.
func (k *kubernetes) passes(t *testing.T, p *probe, c container, pod string) bool {
	t.Helper()
	if p.Exec != nil {
		var args []string
		for _, arg := range p.Exec.Command[1:] { // after the program, which the image has at its root
			args = append(args, k.here(arg, pod, c.Mounts))
		}
		_, _, code := clustertest.Run(t.Context(), t, k.home, nil, nil, args...)
		return code == 0
	}
	client := http.Client{Timeout: 2 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: k.authority(t)}}}
	res, err := client.Get(strings.ToLower(p.HTTP.Scheme) + "://" + k.api[pod] + p.HTTP.Path)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

func (k *kubernetes) authority(t *testing.T) *x509.CertPool {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(k.secret(t, "gram-tls")["ca.pem"])) {
		t.Fatal("the secret holds no authority")
	}
	return pool
}

// certificate is the coordinators'.
func (k *kubernetes) certificate(t *testing.T) *x509.Certificate {
	block, _ := pem.Decode([]byte(k.secret(t, "gram-tls")["coordinator.pem"]))
	if block == nil {
		t.Fatal("the secret holds no certificate")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}
