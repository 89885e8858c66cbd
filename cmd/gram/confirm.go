package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/spf13/cobra"
)

// addYes gives a verb that deletes something for good the flag that answers its question.
func addYes(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolP("yes", "y", false, "do not ask")
	return cmd
}

// confirm asks on a terminal before something goes for good; --yes is the answer beforehand. Without a terminal
// there is nobody to ask: with always, --yes is then demanded, and else the verb goes on.
func (a *app) confirm(cmd *cobra.Command, what string, always bool) error {
	if yes, err := cmd.Flags().GetBool("yes"); err != nil || yes {
		return err
	}
	if !terminal.IsTerminal(a.in) {
		if !always {
			return nil
		}
		return &failure{code: exitUsage, what: what + ": nobody is asked, since stdin is not a terminal",
			hint: fmt.Sprintf("`%s --yes` goes on without the question.", cmd.CommandPath())}
	}
	fmt.Fprintf(a.err, "%s. Go on? [y/N] ", terminal.Clean(what))
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); err == nil && (answer == "y" || answer == "yes") {
		return nil
	}
	return &failure{code: exitFailed, what: "nothing was changed"}
}
