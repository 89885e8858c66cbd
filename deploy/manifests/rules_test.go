package manifests

import (
	"fmt"
	"slices"
	"strings"
)

// breaches are what of the manifests is against the rules.
func breaches(objects []object) []string {
	var found []string
	for _, o := range objects {
		switch {
		case o.Kind == "ServiceAccount" && (o.Automount == nil || *o.Automount):
			found = append(found, "the service account's token is mounted")
		case o.Spec.Template.Spec != nil:
			found = append(found, podBreaches(o)...)
		case o.Kind == "NetworkPolicy":
			found = append(found, policyBreaches(o)...)
		}
	}
	return append(append(found, quorumBreaches(objects)...), autoscalerBreaches(objects)...)
}

func yes(b *bool) bool { return b != nil && *b }
func no(b *bool) bool  { return b != nil && !*b }

func component(labels map[string]string) string { return labels["app.kubernetes.io/component"] }

func podBreaches(o object) (found []string) {
	p, labels := o.Spec.Template.Spec, o.Spec.Template.Metadata.Labels
	rules := map[string]bool{
		"mounts a token of Kubernetes":   no(p.Automount),
		"is told of every service":       no(p.ServiceLinks),
		"shares a namespace of the node": !p.HostNetwork && !p.HostPID && !p.HostIPC,
		"may run as root": yes(p.Security.RunAsNonRoot) && p.Security.RunAsUser > 0 &&
			p.Security.RunAsGroup > 0 && p.Security.FSGroup > 0,
		"has no seccomp profile":          p.Security.Seccomp.Type == "RuntimeDefault",
		"has an account of no name":       p.Account != "",
		"has containers before or beside": len(p.InitContainers) == 0 && len(p.Containers) == 1,
		"is of no component":              component(labels) == p.Containers[0].Name,
	}
	for _, v := range p.Volumes {
		rules["mounts a folder of the node: "+v.Name] = v.HostPath == nil
		rules["has an unbounded scratch: "+v.Name] = v.Secret != nil || v.EmptyDir != nil && v.EmptyDir.SizeLimit != ""
		rules["lets others read a secret: "+v.Name] = v.Secret == nil || v.Secret.Mode == 0o440
	}
	for what, kept := range rules {
		if !kept {
			found = append(found, o.Metadata.Name+" "+what)
		}
	}
	for _, c := range p.Containers {
		found = append(append(found, containerBreaches(c)...), fileBreaches(*p, c)...)
	}
	return append(found, roleBreaches(*p, p.Containers[0])...)
}

func containerBreaches(c container) (found []string) {
	s := c.Security
	rules := map[string]bool{
		"may gain privileges": no(s.Escalation),
		"may be privileged":   no(s.Privileged),
		"may write its root":  yes(s.ReadOnlyRoot),
		"may run as root":     yes(s.RunAsNonRoot),
		"keeps capabilities": slices.Equal(s.Capabilities.Drop, []string{"ALL"}) &&
			len(s.Capabilities.Add) == 0,
		"has no seccomp profile":     s.Seccomp.Type == "RuntimeDefault",
		"has an image of no version": !strings.HasSuffix(c.Image, ":latest") && strings.ContainsAny(c.Image, ":@"),
		"asks for no CPU or memory":  c.Resources.Requests["cpu"] != "" && c.Resources.Requests["memory"] != "",
		"has no limit of memory":     c.Resources.Limits["memory"] != "",
		"is not probed at its start": c.Startup != nil,
		"is not probed for life":     c.Liveness != nil,
		"runs another program":       len(c.Command) == 0, // the image's entry point
	}
	for _, e := range c.Env {
		rules["has a secret in plain in "+e.Name] = e.Value == "" || !strings.Contains(e.Name, "SECRET") &&
			!strings.Contains(e.Name, "TOKEN")
	}
	for what, kept := range rules {
		if !kept {
			found = append(found, c.Name+" "+what)
		}
	}
	return found
}

// roleBreaches are the rules of coordinators, and of workers.
func roleBreaches(p pod, c container) (found []string) {
	rule := func(kept bool, what string) {
		if !kept {
			found = append(found, c.Name+" "+what)
		}
	}
	flags := map[string]string{}
	for _, arg := range c.Args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		flags[name] = value
	}
	if c.Name == "coordinator" {
		rule(p.Grace >= 20, "is killed before it has handed over")
		rule(c.Readiness != nil && c.Readiness.HTTP != nil && c.Readiness.HTTP.Path == "/readyz" &&
			c.Readiness.HTTP.Scheme == "HTTPS", "is not probed for readiness")
		first, _, _ := strings.Cut(flags["--bootstrap"], ":")
		rule(first != "" && strings.HasPrefix(flags["--join"], first+":"), "may begin a cluster of its own")
		_, named := flags["--node-id"]
		rule(!named, "has an id that a lost disk does not end")
		rule(slices.Contains(c.Args, "--require-worker-certificates"), "takes workers without a certificate")
		return found
	}
	var drain int
	_, err := fmt.Sscanf(flags["--drain-timeout"], "%ds", &drain)
	rule(err == nil && p.Grace >= drain+10, "is killed before it has drained")
	rule(flags["--health-file"] != "" && c.Liveness != nil && c.Liveness.Exec != nil &&
		slices.Contains(c.Liveness.Exec.Command, "--file="+flags["--health-file"]),
		"is probed at another file than it touches")
	rule(flags["--cert"] != "" && flags["--key"] != "", "shows no certificate")
	for _, v := range p.Volumes {
		if v.Secret == nil || v.Name == "stores" { // of which all is for the worker
			continue
		}
		more := slices.ContainsFunc(v.Secret.Items, func(i item) bool {
			return !slices.Contains([]string{"ca.pem", "worker.pem", "worker-key.pem", "worker.token"}, i.Key)
		})
		rule(len(v.Secret.Items) > 0 && !more, "is shown more of a secret than it needs: "+v.Name)
	}
	return found
}

// fileBreaches are the files that arguments name and no volume holds.
func fileBreaches(p pod, c container) (found []string) {
	for _, arg := range c.Args {
		if flag, file, _ := strings.Cut(arg, "="); strings.HasPrefix(file, "/") && !mounted(p, c, file) {
			found = append(found, c.Name+" is told of a file that it is not shown: "+flag)
		}
	}
	return found
}

// mounted reports whether a volume of the pod may hold the file: of a secret that is shown in part, that part does.
func mounted(p pod, c container, file string) bool {
	return slices.ContainsFunc(c.Mounts, func(m mount) bool {
		name, below := strings.CutPrefix(file+"/", m.Path+"/")
		return below && !slices.ContainsFunc(p.Volumes, func(v volume) bool {
			part := v.Secret != nil && len(v.Secret.Items) > 0
			return v.Name == m.Name && part &&
				!slices.ContainsFunc(v.Secret.Items, func(i item) bool { return i.Path+"/" == name })
		})
	})
}

// raftPort is for coordinators alone.
const raftPort = 7481

func policyBreaches(o object) (found []string) {
	rule := func(kept bool, what string) {
		if !kept {
			found = append(found, "policy "+o.Metadata.Name+" "+what)
		}
	}
	who := component(o.Spec.PodSelector.MatchLabels)
	rule(who == "coordinator" || who == "worker", "selects no component")
	rule(slices.Equal(o.Spec.PolicyTypes, []string{"Ingress", "Egress"}), "leaves a direction open")
	rule(who != "worker" || len(o.Spec.Ingress) == 0, "lets somebody call a worker")
	for _, in := range o.Spec.Ingress {
		rule(len(in.From) > 0 && len(in.Ports) > 0, "lets everybody in, or to every port")
		for _, port := range in.Ports {
			for _, from := range in.From {
				coordinator := from.PodSelector != nil && component(from.PodSelector.MatchLabels) == "coordinator" &&
					from.NamespaceSelector == nil && from.IPBlock == nil
				rule(port.Port != raftPort && port.Port != 0 || coordinator,
					"opens the raft port to others than coordinators")
				rule(from.PodSelector == nil || len(from.PodSelector.MatchLabels) > 0, "lets every pod in")
			}
		}
	}
	for _, out := range o.Spec.Egress {
		rule(len(out.Ports) > 0, "lets pods call every port")
		for _, to := range out.To {
			rule(to.IPBlock == nil || to.IPBlock.CIDR != "0.0.0.0/0" ||
				slices.Contains(to.IPBlock.Except, "169.254.0.0/16"), "lets pods call the cloud's metadata")
			for _, port := range out.Ports {
				rule(who != "worker" || port.Port != raftPort, "lets workers call the raft port")
			}
		}
	}
	return found
}

// quorumBreaches are the rules by which a majority stays.
func quorumBreaches(objects []object) (found []string) {
	seen := map[string]bool{}
	for _, o := range objects {
		switch {
		case o.Kind == "StatefulSet":
			seen["all coordinators start at once"] = o.Spec.PodManagementPolicy == "Parallel"
			seen["an odd number of coordinators"] = o.Spec.Replicas != nil && *o.Spec.Replicas%2 == 1
			seen["a disk for each coordinator"] = len(o.Spec.Claims) == 1
		case o.Kind == "PodDisruptionBudget":
			seen["one coordinator at a time is drained"] = o.Spec.MaxUnavailable != nil && *o.Spec.MaxUnavailable == 1
		case o.Kind == "Service" && o.Spec.ClusterIP == "None":
			seen["names before coordinators are ready"] = o.Spec.PublishNotReady
		}
	}
	for _, need := range []string{"all coordinators start at once", "an odd number of coordinators",
		"a disk for each coordinator", "one coordinator at a time is drained", "names before coordinators are ready"} {
		if !seen[need] {
			found = append(found, "not so: "+need)
		}
	}
	return found
}

// autoscalerBreaches: one pod more for as many slots as a pod has.
func autoscalerBreaches(objects []object) (found []string) {
	arguments := map[string][]string{} // of deployments
	for _, o := range objects {
		if o.Kind == "Deployment" {
			arguments[o.Metadata.Name] = o.Spec.Template.Spec.Containers[0].Args
		}
	}
	for _, o := range objects {
		if o.Kind != "HorizontalPodAutoscaler" {
			continue
		}
		if len(o.Spec.Metrics) != 1 || o.Spec.Metrics[0].External.Metric.Name != "gram_worker_slots_wanted" {
			found = append(found, "the autoscaler looks at another metric")
			continue
		}
		slots := "--slots=" + o.Spec.Metrics[0].External.Target.AverageValue
		if o.Spec.ScaleTarget.Kind != "Deployment" || !slices.Contains(arguments[o.Spec.ScaleTarget.Name], slots) {
			found = append(found, "the autoscaler counts other slots than its workers have")
		}
	}
	return found
}
