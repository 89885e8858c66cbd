package listen

import (
	"context"
	"log/slog"
	"time"

	"github.com/gram-compute/gram/coordinator/pki"
)

// RefreshCertificate takes up certificates that are put in place while this member runs, and renews its own in time.
func RefreshCertificate(ctx context.Context, identity *pki.Identity, every time.Duration, logger *slog.Logger) {
	if identity == nil {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	told := "" // a fault is told once, not every time
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		changed, err := identity.Refresh(time.Now())
		switch {
		case err != nil && err.Error() != told:
			told = err.Error()
			logger.Warn("the certificate's files are not taken up; the one in use stays", "expires", identity.Expires(),
				"error", err)
		case err == nil:
			told = ""
		}
		if changed {
			logger.Info("another certificate is in use", "expires", identity.Expires())
		}
	}
}
