package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// askEvery is the pause between two questions to another process.
const askEvery = 20 * time.Millisecond

// Addresses are on loopback and nobody listened on them a moment ago.
func Addresses(n int) ([]string, error) {
	var found []string
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close() // until all are found, so that they differ
		found = append(found, listener.Addr().String())
	}
	return found, nil
}

// Until asks until the answer is yes; ctx bounds it. It is for conditions of other processes, which no channel of
// ours can report.
func Until(ctx context.Context, what string, yes func() bool) error {
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for !yes() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for %s: %w", what, context.Cause(ctx))
		}
	}
	return nil
}

// Answers reports whether something listens on an address.
func Answers(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	return err == nil && conn.Close() == nil
}

// errEnded is returned while waiting for a process that has ended.
var errEnded = errors.New("the process has ended")

// AwaitListener dials until somebody answers; the end of the process is an error.
func (p *Process) AwaitListener(ctx context.Context, address string) error {
	err := Until(ctx, "an answer on "+address, func() bool { return Answers(address) || !p.Running() })
	if err == nil && !p.Running() {
		return fmt.Errorf("%w: %v", errEnded, p.Err())
	}
	return err
}
