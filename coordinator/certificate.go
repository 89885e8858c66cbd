package coordinator

import (
	"context"
	"time"
)

// refreshCertificate takes up certificates that are put in place while this member runs, and renews its own in time.
func (c *Coordinator) refreshCertificate(ctx context.Context) {
	if c.identity == nil {
		return
	}
	ticker := time.NewTicker(c.cfg.limits.Refresh)
	defer ticker.Stop()
	told := "" // a fault is told once, not every time
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		changed, err := c.identity.Refresh(time.Now())
		switch {
		case err != nil && err.Error() != told:
			told = err.Error()
			c.cfg.Logger.Warn("the certificate's files are not taken up; the one in use stays", "expires", c.identity.Expires(), "error", err)
		case err == nil:
			told = ""
		}
		if changed {
			c.cfg.Logger.Info("another certificate is in use", "expires", c.identity.Expires())
		}
	}
}
