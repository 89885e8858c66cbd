package coordinator

import (
	"path/filepath"

	"github.com/gram-compute/gram/coordinator/audit"
)

// AuditFile is the audit log's name in the data directory.
const AuditFile = "audit.jsonl"

// AuditOff as Config.Audit writes none.
const AuditOff = "off"

// openAudit opens the audit log that the configuration asks for.
func (c *Coordinator) openAudit() error {
	to := c.cfg.AuditTo
	file := c.cfg.Audit
	if file == "" && c.cfg.DataDir != "" {
		file = filepath.Join(c.cfg.DataDir, AuditFile)
	}
	if to == nil && file != "" && file != AuditOff {
		opened, err := audit.OpenFile(file)
		if err != nil {
			return err
		}
		to = opened
	}
	if to != nil {
		c.trails.Log = audit.New(to, c.cfg.Logger)
	}
	return nil
}
