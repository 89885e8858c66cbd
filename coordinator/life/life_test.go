package life

import (
	"testing"
	"testing/synctest"
)

// A task that waits for the end gets it, Wait returns after the last, and none begins then.
func TestTasksEndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks, ended, late := New(), false, make(chan struct{})
		tasks.Go(func() {
			<-tasks.Stopping()
			tasks.Go(func() {
				<-late
				ended = true
			})
		})
		tasks.Stop()
		synctest.Wait()
		go close(late)
		tasks.Wait()
		if !ended {
			t.Error("Wait returned before a task had ended")
		}
		if tasks.Go(func() { t.Error("a task began after the end") }) {
			t.Error("a task after the end was accepted")
		}
	})
}
