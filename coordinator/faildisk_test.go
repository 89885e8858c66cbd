package coordinator

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

func TestFullDiskFailsTheProcess(t *testing.T) {
	t.Parallel()
	d := &disk{}
	c := startTest(t, d.under(testConfig(t.TempDir())))
	d.breakWith(syscall.ENOSPC)
	_, err := c.leads.Log().Propose(t.Context(), &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "a"}}})
	if err == nil {
		t.Error("a command was committed on a full disk")
	}
	select {
	case err := <-c.Failed():
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free space") {
			t.Errorf("failed with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a full disk went unnoticed")
	}
}

func TestHangingDiskFailsTheProcess(t *testing.T) {
	t.Parallel()
	d := &disk{}
	cfg := d.under(testConfig(t.TempDir()))
	cfg.DiskLimit = time.Second // also of the probe at the start, on a busy machine
	c := startTest(t, cfg)
	release := d.stall()
	defer release()
	proposed := make(chan struct{})
	go func() {
		defer close(proposed)
		c.leads.Log().Propose(t.Context(), &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: "a"}}})
	}()
	began := time.Now()
	select {
	case err := <-c.Failed():
		if took := time.Since(began); took < cfg.DiskLimit/2 || !strings.Contains(err.Error(), "the disk hangs") {
			t.Errorf("failed after %v: %v", took, err)
		}
	case <-time.After(cfg.DiskLimit + 9*time.Second):
		t.Fatal("a hanging disk went unnoticed")
	}
	// Nobody may have to wait for that disk.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("shut down on a hanging disk: %v", err)
	}
	release()
	<-proposed // committed after all, or not: the caller was told late, never wrongly
	<-c.ended
}
