package state

import "testing"

// What nobody can read is made again as often as each of the bounds allows, of which losses keep half.
func TestHowOftenUnreadableWorkIsMadeAgain(t *testing.T) {
	for _, c := range []struct {
		unreadable, reopened, anew uint32
		may                        bool
	}{
		{0, 0, 0, true},
		{MaxUnreadable - 1, MaxReopened/2 - 1, MaxAnew/2 - 1, true},
		{MaxUnreadable, 0, 0, false},
		{0, MaxReopened / 2, 0, false},
		{0, 0, MaxAnew / 2, false},
	} {
		j := &Job{}
		j.Rounds.unreadable, j.Counters.Remade.Reopened, j.Counters.Remade.Anew = c.unreadable, c.reopened, c.anew
		if got := j.MayBeUnreadable(); got != c.may {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
