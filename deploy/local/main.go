// Command local runs a whole cluster on this machine until Ctrl-C: three coordinators, three
// workers and an S3 server, each a process. `make cluster` runs it; docs/operations.md begins with it.
//
//	go build -o bin/cluster ./deploy/local && bin/cluster -gram bin/gram -versitygw bin/versitygw
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// options say where the cluster lives and what it is made of.
type options struct {
	gram, versitygw string // binaries
	dir             string // keeps everything
	port            int    // first of seven; 0 means any that are free
	input           string // folder whose files jobs may read
}

func main() {
	var o options
	flag.StringVar(&o.gram, "gram", filepath.Join("bin", "gram"), "the gram `binary`")
	flag.StringVar(&o.versitygw, "versitygw", filepath.Join("bin", "versitygw"), "the S3 server's `binary`")
	flag.StringVar(&o.dir, "dir", "cluster", "`directory` that keeps the cluster")
	flag.IntVar(&o.port, "port", 7480, "the first of seven `ports`; 0 for any, which only a new directory takes")
	flag.StringVar(&o.input, "input", ".", "`directory` whose files jobs may read")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends this process at once, and the kernel its children
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "cluster: failed:", err)
		os.Exit(1)
	}
}

// run keeps the cluster until ctx ends.
func run(ctx context.Context, o options) error {
	var failures []error
	for _, path := range []*string{&o.gram, &o.versitygw, &o.dir, &o.input} {
		absolute, err := filepath.Abs(*path)
		failures, *path = append(failures, err), absolute
	}
	if err := errors.Join(failures...); err != nil {
		return err
	}
	c, err := newCluster(o)
	if err != nil {
		return err
	}
	err = c.start(ctx)
	if err == nil {
		fmt.Print(c.welcome())
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "cluster: stopping")
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // somebody changed their mind
	}
	return errors.Join(err, c.stop())
}
