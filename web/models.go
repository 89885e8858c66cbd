package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// modelsOfPage is how many models a page lists.
const modelsOfPage = 25

// modelList is the view of a page of models.
type modelList struct {
	Kind   string // that was asked for; "" means every kind
	Kinds  []string
	Groups []modelGroup
	Older  string // the query of the next page; "" on the last one
	First  bool
}

// modelGroup is the models of one kind: only these have the same numbers.
type modelGroup struct {
	Kind    string
	Columns []string // names of headlines
	Models  []modelRow
}

// modelRow is a model in a list.
type modelRow struct {
	*pb.Model
	Cells []string // a number for each column of its group; "" where it has none
}

// listModels is the page of the models, newest first, by kind.
func (s *Site) listModels(w http.ResponseWriter, r *http.Request) {
	from, kind := r.FormValue("from"), r.FormValue("kind")
	answer, err := s.models.ListModels(s.as(r), call(r, &pb.ListModelsRequest{Limit: modelsOfPage, PageToken: from,
		Kind: kind}))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	view := modelList{Kind: kind, Kinds: answer.Msg.GetKinds(), First: from == "",
		Groups: byKind(answer.Msg.GetModels())}
	if next := answer.Msg.GetNextPageToken(); next != "" {
		query := url.Values{"from": {next}}
		if kind != "" {
			query.Set("kind", kind)
		}
		view.Older = "?" + query.Encode()
	}
	s.view(w, r, "models", "models", "Models", view)
}

// byKind groups models: kinds in the order of their newest model, columns in the order in which models have them.
func byKind(models []*pb.Model) (groups []modelGroup) {
	for _, m := range models {
		at := slices.IndexFunc(groups, func(g modelGroup) bool { return g.Kind == m.GetKind() })
		if at < 0 {
			at, groups = len(groups), append(groups, modelGroup{Kind: m.GetKind()})
		}
		g := &groups[at]
		for _, h := range m.GetHeadlines() {
			if !slices.Contains(g.Columns, h.GetName()) {
				g.Columns = append(g.Columns, h.GetName())
			}
		}
		g.Models = append(g.Models, modelRow{Model: m})
	}
	for _, g := range groups {
		for i := range g.Models {
			g.Models[i].fill(g.Columns)
		}
	}
	return groups
}

func (m *modelRow) fill(columns []string) {
	m.Cells = make([]string, len(columns))
	for _, h := range m.GetHeadlines() {
		m.Cells[slices.Index(columns, h.GetName())] = numeral(h.GetValue())
	}
}

// plain is the name of a number without the part that it has in common with the others of its kind:
// "evaluation.macro.f1" is "macro f1".
func plain(name string) string {
	if _, rest, ok := strings.Cut(name, "."); ok {
		name = rest
	}
	return strings.NewReplacer(".", " ", "_", " ").Replace(name)
}

// Verified says what was verified of a model while it was made: its tasks, by a second worker.
func (m modelRow) Verified() string {
	c := m.GetChecks()
	text := "no task"
	switch {
	case c.GetEveryTask():
		text = "every task"
	case c.GetAgreed() > 0:
		text = protocol.Counted(c.GetAgreed(), "task")
	}
	if c.GetDisputed() > 0 {
		text += fmt.Sprintf("; %d disputed and decided", c.GetDisputed())
	}
	if c.GetWaived() > 0 {
		text += fmt.Sprintf("; %d had no second worker", c.GetWaived())
	}
	return text
}

// Signature says whether a signature is beside the model. Nobody has looked whether it is valid.
func (m modelRow) Signature() string {
	switch m.GetChecks().GetSignature() {
	case pb.SignatureFile_SIGNATURE_FILE_PRESENT:
		return "present"
	case pb.SignatureFile_SIGNATURE_FILE_ABSENT:
		return "none"
	}
	return "unknown"
}
