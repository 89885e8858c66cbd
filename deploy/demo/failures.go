package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// failures trains once more, with a worker and then the coordinator killed in the
// middle, and demands the same bytes.
func (d *demo) failures(ctx context.Context, want facts) error {
	say("The same job once more. In its first round a worker is killed, in its second the\ncoordinator; it is then started again on its log.")
	id, err := d.submit(ctx)
	if err != nil {
		return err
	}
	if err := d.waitThrough(ctx, id); err != nil {
		return err
	}
	got, err := d.facts(ctx, id)
	if err != nil {
		return err
	}
	return same("through the failures", got.model, want.model)
}

// waitThrough follows a job and kills what it announces.
func (d *demo) waitThrough(ctx context.Context, id string) error {
	wait := d.command(ctx, "wait", id, "--timeout", "2m")
	wait.Stdout, wait.Stderr = os.Stdout, nil
	progress, err := wait.StderrPipe()
	if err != nil {
		return err
	}
	if err := wait.Start(); err != nil {
		return err
	}
	killed, crashed := false, false
	var failed error
	for lines := bufio.NewScanner(progress); lines.Scan(); {
		fmt.Fprintln(os.Stderr, lines.Text())
		switch {
		case failed != nil: // read to the end all the same, so that wait can end
		case !killed && strings.Contains(lines.Text(), "running round 1"):
			killed = true
			fmt.Println("-- kill -9 worker-1")
			failed = d.cluster.killWorker()
		case !crashed && strings.Contains(lines.Text(), "running round 2"):
			crashed = true
			fmt.Println("-- kill -9 the coordinator, and start it again")
			d.cluster.crash()
			failed = d.cluster.start(ctx)
		}
	}
	if err := wait.Wait(); err != nil {
		return errors.Join(failed, fmt.Errorf("gram wait: %w", err))
	}
	if failed == nil && !(killed && crashed) {
		return errors.New("the job was over before anything was killed")
	}
	return failed
}

func same(how, got, want string) error {
	if got != want {
		return fmt.Errorf("%s the model became %s, not %s: they must be the same", how, got, want)
	}
	fmt.Println("the same model, to the bit: sha256", got)
	return nil
}
