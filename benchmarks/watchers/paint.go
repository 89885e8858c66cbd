package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/gram-compute/gram/deploy/process"
)

// painted is when a browser painted a page first, from the beginning of its navigation.
type painted struct {
	path  string
	first []time.Duration // ascending
}

func (p painted) String() string {
	return fmt.Sprintf("%-34s first paint p50 %6.1f ms, p99 %6.1f ms", p.path, ms(quantile(p.first, 0.5)),
		ms(quantile(p.first, 0.99)))
}

// tab is a page of a headless browser, driven by its developer protocol over a pipe.
type tab struct {
	to      io.Writer
	from    *bufio.Reader
	session string
	last    int
}

// paint loads pages in a browser and asks it when it painted them. The first load of each, which fetches style and
// script, does not count.
func paint(ctx context.Context, m *member, browser, home string, times int, paths ...string) (found []painted,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	t, end, err := open(ctx, browser, home)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := t.begin(m); err != nil {
		return nil, err
	}
	for _, path := range paths {
		p := painted{path: path}
		for n := range times + 1 {
			first, err := t.load("https://" + m.address + path)
			if err != nil {
				return nil, fmt.Errorf("load %s: %w", path, err)
			}
			if n > 0 {
				p.first = append(p.first, first)
			}
		}
		slices.Sort(p.first)
		fmt.Println(p)
		found = append(found, p)
	}
	return found, nil
}

// open starts a browser.
func open(ctx context.Context, browser, home string) (*tab, func(), error) {
	reads, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	from, writes, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, reads.Close(), to.Close())
	}
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
		"--ignore-certificate-errors", "--user-data-dir="+filepath.Join(home, "browser"), "about:blank")
	cmd.ExtraFiles = []*os.File{reads, writes}
	process.KillWithOwner(cmd)
	err = cmd.Start()
	reads.Close()
	writes.Close()
	end := func() {
		to.Close()
		from.Close()
		if cmd.Process != nil {
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()         // it was killed
		}
	}
	if err != nil {
		end()
		return nil, nil, fmt.Errorf("start %s: %w", browser, err)
	}
	return &tab{to: to, from: bufio.NewReader(from)}, end, nil
}

// begin attaches to the first page and logs in.
func (t *tab) begin(m *member) error {
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	if err := t.call("Target.getTargets", nil, &targets); err != nil {
		return err
	}
	var attached struct{ SessionID string }
	for _, target := range targets.TargetInfos {
		if target.Type != "page" {
			continue
		}
		if err := t.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true},
			&attached); err != nil {
			return err
		}
	}
	t.session = attached.SessionID
	return errors.Join(t.call("Page.enable", nil, nil), t.call("Network.setCookie", map[string]any{
		"name": "__Host-gram", "value": m.cookie, "url": "https://" + m.address, "path": "/", "secure": true,
		"httpOnly": true, "sameSite": "Strict"}, nil))
}

// load goes to a page and returns when it was painted first.
func (t *tab) load(url string) (time.Duration, error) {
	if err := t.call("Page.navigate", map[string]any{"url": url}, nil); err != nil {
		return 0, err
	}
	if err := t.await("Page.loadEventFired"); err != nil {
		return 0, err
	}
	const ask = `new Promise((done) => { const look = () => { const p = performance.getEntriesByName("first-paint")[0];
		p ? done(p.startTime) : requestAnimationFrame(look); }; look(); })`
	var told struct {
		Result struct{ Value float64 }
	}
	err := t.call("Runtime.evaluate", map[string]any{"expression": ask, "awaitPromise": true}, &told)
	return time.Duration(told.Result.Value * float64(time.Millisecond)), err
}

// message is one of the protocol.
type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params any             `json:"params,omitempty"`
	On     string          `json:"sessionId,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// call makes a call and waits for its answer; events that come before it are dropped.
func (t *tab) call(method string, params, result any) error {
	t.last++
	text, err := json.Marshal(message{ID: t.last, Method: method, Params: params, On: t.session})
	if err != nil {
		return err
	}
	if _, err := t.to.Write(append(text, 0)); err != nil {
		return err
	}
	for {
		m, err := t.receive()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", method, err)
		case m.ID != t.last:
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(m.Result, result)
		}
	}
}

func (t *tab) await(event string) error {
	for {
		m, err := t.receive()
		if err != nil || m.Method == event {
			return err
		}
	}
}

func (t *tab) receive() (m message, err error) {
	text, err := t.from.ReadBytes(0)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(text[:len(text)-1], &m)
}
