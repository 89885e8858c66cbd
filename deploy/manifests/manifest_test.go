// Package manifests holds what the chart in deploy/chart renders, for three sets of values, to
// rules that no schema knows, and starts the very containers as processes. `.ci/deploy` holds
// the files in rendered/ to the chart.
package manifests

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// object is a manifest, as far as the rules look.
type object struct {
	Kind     string
	Metadata struct {
		Name   string
		Labels map[string]string
	}
	Automount *bool `yaml:"automountServiceAccountToken"`
	Spec      struct {
		Replicas            *int
		PodManagementPolicy string `yaml:"podManagementPolicy"`
		ServiceName         string `yaml:"serviceName"`
		Template            struct {
			Metadata struct{ Labels map[string]string }
			Spec     *pod
		}
		Claims []struct {
			Metadata struct{ Name string }
		} `yaml:"volumeClaimTemplates"`
		MaxUnavailable  *int     `yaml:"maxUnavailable"`
		ClusterIP       string   `yaml:"clusterIP"`
		PublishNotReady bool     `yaml:"publishNotReadyAddresses"`
		PodSelector     selector `yaml:"podSelector"`
		PolicyTypes     []string `yaml:"policyTypes"`
		Ingress, Egress []rule
		ScaleTarget     struct{ Kind, Name string } `yaml:"scaleTargetRef"`
		Metrics         []struct {
			External struct {
				Metric struct{ Name string }
				Target struct {
					AverageValue string `yaml:"averageValue"`
				}
			}
		}
	}
}

type selector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

type rule struct {
	From, To []peer
	Ports    []struct {
		Protocol string
		Port     int
	}
}

type peer struct {
	PodSelector       *selector `yaml:"podSelector"`
	NamespaceSelector *selector `yaml:"namespaceSelector"`
	IPBlock           *struct {
		CIDR   string
		Except []string
	} `yaml:"ipBlock"`
}

type pod struct {
	Automount    *bool  `yaml:"automountServiceAccountToken"`
	ServiceLinks *bool  `yaml:"enableServiceLinks"`
	HostNetwork  bool   `yaml:"hostNetwork"`
	HostPID      bool   `yaml:"hostPID"`
	HostIPC      bool   `yaml:"hostIPC"`
	Account      string `yaml:"serviceAccountName"`
	Grace        int    `yaml:"terminationGracePeriodSeconds"`
	Security     struct {
		RunAsNonRoot *bool   `yaml:"runAsNonRoot"`
		RunAsUser    int     `yaml:"runAsUser"`
		RunAsGroup   int     `yaml:"runAsGroup"`
		FSGroup      int     `yaml:"fsGroup"`
		Seccomp      seccomp `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	InitContainers []container `yaml:"initContainers"`
	Containers     []container
	Volumes        []volume
}

type seccomp struct{ Type string }

type volume struct {
	Name     string
	HostPath *yaml.Node `yaml:"hostPath"`
	EmptyDir *struct {
		SizeLimit string `yaml:"sizeLimit"`
	} `yaml:"emptyDir"`
	Secret *struct {
		Name  string `yaml:"secretName"`
		Mode  int    `yaml:"defaultMode"`
		Items []item
	}
}

type item struct{ Key, Path string }

type container struct {
	Name, Image   string
	Command, Args []string
	Env           []struct {
		Name, Value string
		From        *struct {
			Field struct {
				Path string `yaml:"fieldPath"`
			} `yaml:"fieldRef"`
		} `yaml:"valueFrom"`
	}
	EnvFrom []struct {
		Secret struct{ Name string } `yaml:"secretRef"`
	} `yaml:"envFrom"`
	Security struct {
		Escalation   *bool `yaml:"allowPrivilegeEscalation"`
		Privileged   *bool
		ReadOnlyRoot *bool `yaml:"readOnlyRootFilesystem"`
		RunAsNonRoot *bool `yaml:"runAsNonRoot"`
		Capabilities struct{ Add, Drop []string }
		Seccomp      seccomp `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	Resources struct{ Requests, Limits map[string]string }
	Startup   *probe  `yaml:"startupProbe"`
	Liveness  *probe  `yaml:"livenessProbe"`
	Readiness *probe  `yaml:"readinessProbe"`
	Mounts    []mount `yaml:"volumeMounts"`
}

type mount struct {
	Name     string
	Path     string `yaml:"mountPath"`
	SubPath  string `yaml:"subPath"`
	ReadOnly bool   `yaml:"readOnly"`
}

type probe struct {
	HTTP *struct{ Path, Port, Scheme string } `yaml:"httpGet"`
	Exec *struct{ Command []string }
}

// parse reads the manifests of one rendering.
func parse(text []byte) ([]object, error) {
	var objects []object
	for in := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var o object
		err := in.Decode(&o)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if o.Kind != "" {
			objects = append(objects, o)
		}
	}
}

// of returns the one object of a kind whose name ends so.
func of(t *testing.T, objects []object, kind, suffix string) object {
	t.Helper()
	for _, o := range objects {
		if o.Kind == kind && strings.HasSuffix(o.Metadata.Name, suffix) {
			return o
		}
	}
	t.Fatalf("no %s named ...%s", kind, suffix)
	return object{}
}

// renderings are the files in rendered/, by name.
func renderings(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("rendered/*.yaml")
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	texts := map[string][]byte{}
	for _, file := range files {
		if texts[strings.TrimSuffix(filepath.Base(file), ".yaml")], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return texts
}
