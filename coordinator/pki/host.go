package pki

import (
	"errors"
	"fmt"
	"net"
	"strings"
)

// ErrHost: no certificate can hold for this name.
var ErrHost = errors.New("not a DNS name or IP address")

// CheckHost refuses what is neither a DNS name (RFC 1123; a first label "*" stands for any) nor an IP address.
func CheckHost(host string) error {
	if net.ParseIP(host) != nil {
		return nil
	}
	labels := strings.Split(strings.TrimPrefix(host, "*."), ".")
	for _, label := range labels {
		if !validLabel(label) {
			return fmt.Errorf("%q: %w; write it without scheme, port and zone", host, ErrHost)
		}
	}
	if last := labels[len(labels)-1]; len(host) > 253 || strings.Trim(last, "0123456789") == "" {
		return fmt.Errorf("%q: %w", host, ErrHost) // all digits: an address that is mistyped
	}
	return nil
}

func validLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, c := range []byte(label) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}
