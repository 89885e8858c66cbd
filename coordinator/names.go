package coordinator

import (
	"fmt"
	"net"
	"os"
	"slices"

	"github.com/gram-compute/gram/coordinator/pki"
)

// certificateNames are the DNS names and IP addresses the certificate must cover.
// On an unspecified address (0.0.0.0, ::, none) the API is reached by any of this
// machine's, so withOwn all of them and its host name are in it.
func certificateNames(cfg Config, withOwn bool) ([]string, error) {
	for _, name := range cfg.Names {
		if err := pki.CheckHost(name); err != nil {
			return nil, fmt.Errorf("%q cannot be in the certificate: give a DNS name or an IP address, without "+
				"scheme and port (%w)", name, err)
		}
	}
	names := append([]string{"localhost", "127.0.0.1", "::1"}, cfg.Names...)
	for _, address := range []string{cfg.ListenAddr, cfg.RaftAddr, cfg.AdvertiseAddr} {
		if address == "" {
			continue
		}
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("address %q: %w", address, err)
		}
		if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
			names = append(names, host)
			continue
		}
		if !withOwn {
			continue
		}
		own, err := ownNames()
		if err != nil {
			return nil, fmt.Errorf("names for a certificate at %s: %w", address, err)
		}
		names = append(names, own...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// ownNames are this machine's host name and the addresses of its interfaces. Those
// of one link only need a zone, which no certificate can hold.
func ownNames() ([]string, error) {
	name, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	names := []string{name}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && !network.IP.IsLinkLocalUnicast() {
			names = append(names, network.IP.String())
		}
	}
	return names, nil
}
