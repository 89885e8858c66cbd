package main

import (
	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/spf13/cobra"
)

func modelCommand(a *app) *cobra.Command {
	return command.Group("model", "List, fetch, import, name, show, teach and use models",
		"  gram model list\n  gram model show glosses-k3f9p2\n  gram model classify --model glosses-k3f9p2 'a large "+
			"cat'",
		modelListCommand(a), modelGetCommand(a), modelShowCommand(a), modelClassifyCommand(a), modelLearnCommand(a),
		modelImportCommand(a), modelAliasCommand(a), modelRemoveCommand(a))
}
