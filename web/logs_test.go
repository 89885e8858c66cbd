package web

import "testing"

func TestLineText(t *testing.T) {
	for line, want := range map[string]string{
		`{"time":"2026-11-21T09:00:01.234567Z","level":"info","event":"computed","worker":"w1","task":"node",` +
			`"round":2,"node_level":1,"node_index":5,"seconds":0.25}`: "2026-11-21 09:00:01.234 info  w1 round 2, tree 0, node 1/5: " +
			"computed 0.25 s",
		`{"time":"2026-11-21T09:00:01Z","level":"error","event":"failed","worker":"w1","task":"step","round":1,` +
			`"code":"STORE","message":"the store\nis away"}`: "2026-11-21 09:00:01Z error w1 round 1, step: " +
			"failed STORE the store\\nis away",
		`{"time":"2026-11-21T09:00:01Z","level":"warn","event":"lost","worker":"w1","task":"plan","lines":3}`: "2026-11-21 " +
			"09:00:01Z warn  w1 plan: lost 3 lines",
		`no JSON`:     `no JSON`,
		`{"time":1}`:  `{"time":1}`,
		`{"event":1}`: `{"event":1}`,
	} {
		if got := lineText(line); got != want {
			t.Errorf("%s\n is %q, want\n    %q", line, got, want)
		}
	}
}
