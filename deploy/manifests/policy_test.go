package manifests

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestWhatTheChartRendersKeepsTheRules(t *testing.T) {
	for name, text := range renderings(t) {
		objects, err := parse(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, breach := range breaches(objects) {
			t.Errorf("%s: %s", name, breach)
		}
		policies := slices.ContainsFunc(objects, func(o object) bool { return o.Kind == "NetworkPolicy" })
		scaled := slices.ContainsFunc(objects, func(o object) bool { return o.Kind == "HorizontalPodAutoscaler" })
		if scaled != (name == "full") {
			t.Errorf("%s: an autoscaler: %v", name, scaled)
		}
		if policies == (name == "single") { // which switches them off
			t.Errorf("%s: network policies: %v", name, policies)
		}
	}
}

// Every line that a rule stands on, taken away or turned round, is missed: at each place it stands.
func TestNoHardeningLineCanGo(t *testing.T) {
	text := renderings(t)["install"]
	for _, line := range []string{
		"automountServiceAccountToken: false", "enableServiceLinks: false", "runAsNonRoot: true", "runAsUser: 65532",
		"runAsGroup: 65532", "fsGroup: 65532",
		"type: RuntimeDefault", "allowPrivilegeEscalation: false", "privileged: false", "readOnlyRootFilesystem: true",
		"drop: [ALL]",
		"podManagementPolicy: Parallel", "publishNotReadyAddresses: true", "maxUnavailable: 1",
		"policyTypes: [Ingress, Egress]",
		"except: [169.254.0.0/16]", "sizeLimit: 1Gi", "defaultMode: 0440",
		"- --bootstrap=gram-coordinator-0.gram-coordinator.gram.svc:7481", "- --health-file=/run/gram/alive",
		"- --require-worker-certificates", "- --cert=/etc/gram/tls/worker.pem", "- --key=/etc/gram/tls/worker-key.pem",
	} {
		places := bytes.Count(text, []byte(line+"\n"))
		if places == 0 {
			t.Errorf("%q stands nowhere", line)
		}
		for place := range places {
			if without, err := parse(cutLine(text, line, place)); err != nil || len(breaches(without)) == 0 {
				t.Errorf("nothing misses %q, place %d: %v", line, place+1, err)
			}
		}
	}
	for from, to := range map[string]string{
		"app.kubernetes.io/component: coordinator\n      ports:\n        - {protocol: TCP, port: 7481}": "app.kubernetes.io/component: worker\n      ports:\n        - {protocol: TCP, port: 7481}",
		"port: 7480}\n  egress:":                   "port: 7481}\n  egress:",
		"  ingress: [] # a worker has no listener": "  ingress: [{}]",
		"terminationGracePeriodSeconds: 75":        "terminationGracePeriodSeconds: 60",
		"path: /readyz":                            "path: /healthz",
		"- key: worker.token":                      "- key: admin.token",
		"- key: worker-key.pem":                    "- key: coordinator-key.pem",
		"path: worker.pem":                         "path: other.pem",
		"replicas: 3":                              "replicas: 2",
		"image: \"gram:0.1.0\"":                    "image: gram",
		"emptyDir:\n            medium: Memory":    "hostPath:\n            path: /run",
	} {
		if !bytes.Contains(text, []byte(from)) {
			t.Errorf("%q stands nowhere", from)
		}
		turned, err := parse([]byte(strings.ReplaceAll(string(text), from, to)))
		if err != nil || len(breaches(turned)) == 0 {
			t.Errorf("nothing minds %q in place of %q: %v", to, from, err)
		}
	}
}

func TestAutoscalerCountsTheSlotsOfItsWorkers(t *testing.T) {
	text := renderings(t)["full"]
	for _, change := range [][2]string{{"--slots=8", "--slots=4"},
		{"name: gram_worker_slots_wanted", "name: gram_jobs"}} {
		turned, err := parse(bytes.ReplaceAll(text, []byte(change[0]), []byte(change[1])))
		if err != nil || len(breaches(turned)) != 1 {
			t.Errorf("%q in place of %q: %q, %v", change[1], change[0], breaches(turned), err)
		}
	}
}

// The file that declares stores is shown to all who are told of it.
func TestStoresAreShown(t *testing.T) {
	text := string(renderings(t)["full"])
	for _, line := range []string{"- --stores=/etc/gram/stores/stores.yaml\n", "mountPath: /etc/gram/stores\n"} {
		if n := strings.Count(text, line); n != 2 {
			t.Errorf("%q stands in %d places, not with coordinators and workers", line, n)
		}
	}
	hidden, err := parse([]byte(strings.ReplaceAll(text, "mountPath: /etc/gram/stores\n", "mountPath: /etc/stores\n")))
	if err != nil || len(breaches(hidden)) != 2 {
		t.Errorf("mounted elsewhere: %q, %v", breaches(hidden), err)
	}
}

// cutLine takes a line away at one of the places where it stands.
func cutLine(text []byte, line string, place int) []byte {
	var kept []string
	for l := range strings.Lines(string(text)) {
		if strings.HasSuffix(l, line+"\n") {
			place--
			if place == -1 {
				continue
			}
		}
		kept = append(kept, l)
	}
	return []byte(strings.Join(kept, ""))
}
