package command

import (
	"fmt"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/protocol"
	"github.com/spf13/cobra"
)

// Destructive verbs end or delete something. They are never suggested: a suggestion is run without a second look.
var Destructive = map[string]bool{"cancel": true, "remove": true, "rm": true, "revoke": true, "restore": true,
	"sweep": true}

// OtherTools are verbs of other tools, by the command that they follow, and what does the same here.
var OtherTools = map[string]map[string]string{
	"gram": {
		"apply": "gram submit -f FILE", "classify": "gram model classify", "create": "gram submit -f FILE",
		"describe": "gram status",
		"job":      "gram list", "jobs": "gram list", "ls": "gram list", "members": "gram cluster members",
		"models": "gram model list",
		"nodes":  "gram cluster members", "predict": "gram model classify", "ps": "gram list",
		"schedules": "gram schedule list",
		"show":      "gram status", "start": "gram submit -f FILE", "tail": "gram logs -f", "tokens": "gram token list",
		"train": "gram run -f FILE",
	},
	"gram schedule": {
		"apply": "gram schedule create", "describe": "gram schedule show", "disable": "gram schedule pause",
		"edit":   "gram schedule create --replace",
		"enable": "gram schedule resume", "fire": "gram schedule trigger", "ls": "gram schedule list",
		"run":   "gram schedule trigger",
		"start": "gram schedule resume", "status": "gram schedule show", "stop": "gram schedule pause",
		"unpause": "gram schedule resume",
		"update":  "gram schedule create --replace",
	},
	"gram model": {
		"describe": "gram model show", "download": "gram model get", "ls": "gram model list",
		"predict": "gram model classify",
		"pull":    "gram model get", "status": "gram model show", "train": "gram model learn",
	},
	"gram cluster": {"health": "gram cluster status", "info": "gram cluster status", "ls": "gram cluster members",
		"nodes": "gram cluster members",
		"show":  "gram cluster status"},
	"gram token": {"add": "gram token create", "ls": "gram token list", "new": "gram token create"},
}

// unknownVerb says that a command has no such verb, and which one was meant where that can be told.
func unknownVerb(parent *cobra.Command, word string) error {
	f := &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("unknown command %q for %q", word, parent.CommandPath())}
	if same := OtherTools[parent.CommandPath()][strings.ToLower(word)]; same != "" {
		f.Hint = fmt.Sprintf("Did you mean `%s`?", same)
		return f
	}
	var verbs, offered []string
	for _, c := range parent.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		verbs = append(verbs, c.Name())
		if !Destructive[c.Name()] {
			offered = append(offered, c.Name())
		}
	}
	if near := protocol.Nearest(word, offered); near != "" {
		f.Hint = fmt.Sprintf("Did you mean `%s %s`?", parent.CommandPath(), near)
		return f
	}
	f.Hint = fmt.Sprintf("Its commands are %s; `%s --help` shows them.", strings.Join(verbs, ", "),
		parent.CommandPath())
	return f
}
