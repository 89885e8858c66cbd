package cluster

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestAnonymous(t *testing.T) {
	for text, want := range map[string]int64{
		"Name:\tgram\nVmRSS:\t  900 kB\nRssAnon:\t     512 kB\nRssFile:\t 388 kB\n": 512 << 10,
		"Name:\tgram\nRssAnon:\tmuch kB\n":                                          -1,
		"Name:\tgram\n":                                                             -1,
	} {
		got, err := anonymous([]byte(text))
		if (err == nil) != (want >= 0) || err == nil && got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

// A process that runs takes memory and has descriptors; one that does not takes nothing.
func TestUsage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	p := &Process{Name: "p", binary: "/bin/sleep", args: []string{"60"}, env: os.Environ(),
		log: filepath.Join(t.TempDir(), "log")}
	if _, known := p.Usage(); known {
		t.Error("known before it runs")
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	u, known := p.Usage()
	if !known || u.Memory <= 0 || u.Files < 3 {
		t.Errorf("%+v, %v", u, known)
	}
	p.Kill()
	if _, known := p.Usage(); known {
		t.Error("known after it ended")
	}
}
