package s3

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/gram-compute/gram/objstore"
)

// metadata are addresses at which clouds tell a machine its own secrets, besides the link-local ones.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("fd00:ec2::/32"),      // Amazon
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle
}

// nat64 maps IPv4 addresses into IPv6 (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// guard returns the check that a connection to a host and port must pass once its name is resolved, so that no
// name can lead to where no object store is. Loopback is open to a store that is declared local, and where the
// configuration itself says it: by address, or localhost.
func guard(hostPort string, local bool) func(context.Context, string, string, syscall.RawConn) error {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	if ip, err := netip.ParseAddr(host); host == "localhost" || err == nil && ip.IsLoopback() {
		local = true
	}
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		resolved, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %s leads to %s, which is no IP address", objstore.ErrInvalidURI, host, address)
		}
		if what := forbidden(resolved.Addr(), local); what != "" {
			return fmt.Errorf("%w: %s leads to %s, %s, where no store is looked for", objstore.ErrInvalidURI, host,
				resolved.Addr(), what)
		}
		return nil
	}
}

// forbidden says what an address is that no store has; "" for one that may have one.
func forbidden(ip netip.Addr, local bool) string {
	ip = ip.Unmap().WithZone("")
	if nat64.Contains(ip) {
		bytes := ip.As16()
		ip = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	for _, prefix := range metadata {
		if prefix.Contains(ip) {
			return "a cloud's metadata service"
		}
	}
	switch {
	case ip.IsLinkLocalUnicast():
		return "a link-local address"
	case ip.IsUnspecified(), ip.IsMulticast():
		return "no machine's address"
	case ip.IsLoopback() && !local:
		return "this machine (declare the store local, if that is meant)"
	}
	return ""
}
