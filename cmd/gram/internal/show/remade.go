package show

import (
	"strings"

	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
)

// remadeView counts what was taken back and made again, because it was lost or wrong.
type remadeView struct {
	Changes  uint64 `json:"changes"`
	Tasks    uint64 `json:"tasks"`
	Reopened uint32 `json:"reopened"`
	Anew     uint32 `json:"anew"`
	Last     string `json:"last"`
}

func viewRemade(r *gramv1.Remade) *remadeView {
	if r.GetChanges() == 0 {
		return nil
	}
	return &remadeView{r.GetChanges(), r.GetTasks(), r.GetReopened(), r.GetAnew(), r.GetLast()}
}

// RemadeText is one line on what was made again.
func RemadeText(r *gramv1.Remade) string {
	text := "the work of " + protocol.Counted(r.GetTasks(), "task")
	if n := r.GetReopened(); n > 0 {
		text += ", with " + protocol.Counted(n, "closed round")
	}
	if n := r.GetAnew(); n > 0 {
		text += "; the rounds began anew " + protocol.Counted(n, "time")
	}
	if last := strings.TrimSpace(r.GetLast()); last != "" {
		text += "; the last: " + last
	}
	return text
}
