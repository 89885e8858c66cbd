package cluster

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	"github.com/gram-compute/gram/deploy/process"
)

// Dev is a running `gram dev`: a coordinator and its workers, a process each.
type Dev struct {
	*process.Process
	Config string // the client configuration that reaches it
	Listen string // the address of its API
}

var devAddress = regexp.MustCompile(`cluster on https://([^,]+),`)

// StartDev runs `gram dev` in a data directory and returns once it can be reached. Listen is the address of its API;
// port 0 is any. Every line but the one that names the configuration is heard.
func StartDev(ctx context.Context, binary, dir, listen string, hear func(string), flags ...string) (*Dev, error) {
	cmd := exec.Command(binary, append([]string{"dev", "--data", dir, "--listen", listen}, flags...)...)
	cmd.Env = process.Environment()
	d := &Dev{}
	reachable := make(chan struct{})
	p, err := process.Start(cmd, func(line string) {
		config, ok := strings.CutPrefix(line, "export GRAM_CONFIG=")
		if !ok {
			hear(line)
		}
		if m := devAddress.FindStringSubmatch(line); m != nil {
			d.Listen = m[1]
		}
		if ok && d.Config == "" {
			d.Config = strings.Trim(config, "'")
			close(reachable)
		}
	})
	if err != nil {
		return nil, err
	}
	d.Process = p
	select {
	case <-reachable:
		return d, nil
	case <-p.Done():
		return nil, fmt.Errorf("gram dev ended: %w", p.Err())
	case <-ctx.Done():
		p.Kill()
		return nil, context.Cause(ctx)
	}
}
