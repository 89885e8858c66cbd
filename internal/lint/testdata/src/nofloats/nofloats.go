package nofloats

import "time"

type state struct {
	done  int
	share float64 // want `float in replicated state` `float in replicated state`
}

func ratio(s state) bool { return s.share > 1 } // want `float in replicated state` `float in replicated state`

func seconds(d time.Duration) int { return int(d.Seconds()) } // want `float in replicated state`

func literal() any { return 0.5 } // want `float in replicated state`

func whole(d time.Duration) int64 { return int64(d / time.Second) }
