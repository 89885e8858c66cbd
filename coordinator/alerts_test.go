package coordinator

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// alertRules are the rules that deploy/prometheus gives to people, as far as Prometheus knows fields.
// deploy/prometheus/alertcheck reads the expressions with Prometheus' own parser (make check-alerts).
type alertRules struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []struct {
			Alert       string            `yaml:"alert"`
			Expr        string            `yaml:"expr"`
			For         string            `yaml:"for"`
			Labels      map[string]string `yaml:"labels"`
			Annotations map[string]string `yaml:"annotations"`
		} `yaml:"rules"`
	} `yaml:"groups"`
}

func readAlerts(t *testing.T) alertRules {
	t.Helper()
	text, err := os.ReadFile("../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	var rules alertRules
	if err := dec.Decode(&rules); err != nil {
		t.Fatal(err)
	}
	return rules
}

var metricName = regexp.MustCompile(`\b(?:gram|go|process)_[a-z0-9_]+`)

// Every metric that a rule names is one that a leader or a follower shows before anything has happened:
// a counter that appears with its first count hides that one from increase().
func TestAlertsNameMetricsThatThereAre(t *testing.T) {
	q := startQuorum(t, 2)
	leader, follower := q.leader(), q.follower()
	shown := func(name string) bool {
		for _, c := range []*Coordinator{leader, follower} {
			for have := range gathered(t, c) {
				have, _, _ = strings.Cut(have, "{")
				if name == have || strings.TrimSuffix(name, "_bucket") == have {
					return true
				}
			}
		}
		return false
	}
	for name := range metricNames(readAlerts(t)) {
		q.poll("a member shows "+name, func() bool { return shown(name) })
	}
}

func metricNames(rules alertRules) map[string]bool {
	names := make(map[string]bool)
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			for _, name := range metricName.FindAllString(rule.Expr, -1) {
				names[name] = true
			}
		}
	}
	return names
}

func TestAlertsSayWhatToDo(t *testing.T) {
	seen := make(map[string]bool)
	rules := readAlerts(t)
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			if seen[rule.Alert] || !strings.HasPrefix(rule.Alert, "Gram") {
				t.Errorf("alert %q", rule.Alert)
			}
			seen[rule.Alert] = true
			if s := rule.Labels["severity"]; s != "critical" && s != "warning" {
				t.Errorf("%s has severity %q", rule.Alert, s)
			}
			if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("%s says not what is wrong, or not what to do", rule.Alert)
			}
			if _, err := time.ParseDuration(rule.For); rule.For != "" && err != nil {
				t.Errorf("%s: %v", rule.Alert, err)
			}
		}
	}
	if len(seen) < 15 || len(metricNames(rules)) < 15 {
		t.Errorf("%d alerts over %d metrics", len(seen), len(metricNames(rules)))
	}
}
