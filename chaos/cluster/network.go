package cluster

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/gram-compute/gram/deploy/process"
)

// The hosts that are not processes: who calls the API, and the store. Both are in the namespace
// of the runner, at addresses of their own.
const (
	Clients = "clients"
	Store   = "store"
)

// nobody is a hardware address that no host has: what is sent to it is lost without a word.
const nobody = "02:00:00:00:00:01"

// Network is where the processes are. With namespaces, each host has its own, on one bridge, and
// what one sends to another can be cut off; without, all are on loopback and nothing can be.
type Network struct {
	// Namespaces tells whether there are any, and if not, Missing tells why.
	Namespaces bool
	Missing    error
	bridge     string
	subnet     string // "10.213.N."
	hosts      map[string]int

	mu   sync.Mutex
	cuts map[string]int // how many lie on each way, by the line that makes it
}

// Loopback is a network without namespaces.
func Loopback(why error) *Network { return &Network{Missing: why} }

// Namespaces makes a bridge, which takes root and iproute2 on Linux.
func Namespaces() (*Network, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("network namespaces take root")
	}
	if err := removeLeft(); err != nil {
		return nil, err
	}
	subnet, err := freeSubnet()
	if err != nil {
		return nil, err
	}
	n := &Network{Namespaces: true, bridge: fmt.Sprintf("gc%d", os.Getpid()), subnet: subnet,
		hosts: map[string]int{Clients: 1, Store: 2}, cuts: make(map[string]int)}
	steps := []string{"link add " + n.bridge + " type bridge"}
	for _, host := range []string{Clients, Store} {
		steps = append(steps, "addr add "+n.IP(host)+"/24 dev "+n.bridge)
	}
	if err := ip(append(steps, "link set "+n.bridge+" up")...); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// removeLeft removes the namespaces and bridges of runners that were killed: their process ids are nobody's now.
func removeLeft() error {
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		return fmt.Errorf("list network namespaces: %w", err)
	}
	gone := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		bridge, _, _ := strings.Cut(name, "-")
		pid, err := strconv.Atoi(strings.TrimPrefix(bridge, "gc"))
		if err != nil || !strings.HasPrefix(bridge, "gc") || syscall.Kill(pid, 0) == nil {
			continue
		}
		gone[bridge] = true
		if err := ip("netns del " + name); err != nil {
			return err
		}
	}
	for bridge := range gone {
		// A runner that was killed early enough made none; and of two that clean up, one comes late.
		_ = ip("link del " + bridge)
	}
	return nil
}

// freeSubnet finds one that no interface here has.
func freeSubnet() (string, error) {
	taken, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	for try := range 250 {
		subnet := fmt.Sprintf("10.213.%d.", (os.Getpid()+try)%250+1)
		free := true
		for _, addr := range taken {
			free = free && !strings.HasPrefix(addr.String(), subnet)
		}
		if free {
			return subnet, nil
		}
	}
	return "", errors.New("no free subnet in 10.213.0.0/16")
}

// ip runs iproute2, line by line.
func ip(lines ...string) error {
	for _, line := range lines {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, out)
		}
	}
	return nil
}

// Add makes a host's namespace.
func (n *Network) Add(host string) error {
	if !n.Namespaces {
		return nil
	}
	n.hosts[host] = 10 + len(n.hosts)
	ns, veth := n.namespace(host), n.link(host)
	return ip(
		"netns add "+ns,
		"link add "+veth+" type veth peer name eth0 netns "+ns,
		"link set "+veth+" master "+n.bridge+" up",
		"-n "+ns+" addr add "+n.IP(host)+"/24 dev eth0",
		"-n "+ns+" link set eth0 up",
		"-n "+ns+" link set lo up",
	)
}

func (n *Network) namespace(host string) string { return n.bridge + "-" + host }

// link is the bridge's end of the cable to a host.
func (n *Network) link(host string) string { return fmt.Sprintf("%s-%d", n.bridge, n.hosts[host]) }

// IP is a host's address.
func (n *Network) IP(host string) string {
	if !n.Namespaces {
		return "127.0.0.1"
	}
	return fmt.Sprint(n.subnet, n.hosts[host])
}

// Address is where a host can listen: at the port named, or on loopback at a free one.
func (n *Network) Address(host string, port int) (string, error) {
	if n.Namespaces {
		return net.JoinHostPort(n.IP(host), fmt.Sprint(port)), nil
	}
	free, err := process.Addresses(1)
	if err != nil {
		return "", err
	}
	return free[0], nil
}

// prefix is the command that runs another one on a host.
func (n *Network) prefix(host string) []string {
	if !n.Namespaces || host == Store || host == Clients {
		return nil
	}
	return []string{"ip", "netns", "exec", n.namespace(host)}
}

// Cut loses what from sends to the others, without a word, until Heal. Clients and the store send from the
// same namespace, so that what one of them cannot send the other cannot either.
func (n *Network) Cut(from string, to ...string) error {
	return n.each(from, to, func(where, address, device string) error {
		if n.cuts[where+address]++; n.cuts[where+address] > 1 {
			return nil // cut already
		}
		return ip(where + "neigh replace " + address + " lladdr " + nobody + " nud permanent dev " + device)
	})
}

// Heal ends the cuts from a host to others that one Cut made.
func (n *Network) Heal(from string, to ...string) error {
	return n.each(from, to, func(where, address, device string) error {
		if n.cuts[where+address]--; n.cuts[where+address] > 0 {
			return nil // another cut is left
		}
		return ip(where + "neigh del " + address + " dev " + device)
	})
}

func (n *Network) each(from string, to []string, do func(where, address, device string) error) error {
	if !n.Namespaces {
		return n.Missing
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	where, device := "-n "+n.namespace(from)+" ", "eth0"
	if from == Clients || from == Store {
		where, device = "", n.bridge
	}
	var failures []error
	for _, other := range to {
		failures = append(failures, do(where, n.IP(other), device))
	}
	return errors.Join(failures...)
}

// Close removes the namespaces and the bridge. The processes must have ended.
func (n *Network) Close() error {
	if !n.Namespaces {
		return nil
	}
	var failures []error
	for host := range n.hosts {
		if host != Clients && host != Store {
			// A link goes with its namespace, but later: a next run of this process would meet its name.
			_ = ip("link del " + n.link(host)) // Add may have failed before it made one
			failures = append(failures, ip("netns del "+n.namespace(host)))
		}
	}
	return errors.Join(append(failures, ip("link del "+n.bridge))...)
}
