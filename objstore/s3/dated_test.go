package s3

import (
	"context"
	"net/http"
	"sync"
	"testing"
)

type answers struct{ dates chan string }

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{Header: http.Header{"Date": {<-a.dates}}, Body: http.NoBody}, nil
}

// Of hedged requests several may be answered, at once and not all with a Date.
func TestDatesOfHedgedRequests(t *testing.T) {
	const date = "Sun, 22 Nov 2026 12:00:00 GMT"
	for range 100 {
		from := answers{make(chan string, 3)}
		var shown shownDate
		ctx := context.WithValue(t.Context(), dateKey{}, &shown)
		req, err := http.NewRequestWithContext(ctx, http.MethodHead, "http://x", nil)
		if err != nil {
			t.Fatal(err)
		}
		var asked sync.WaitGroup
		for _, d := range []string{date, date, ""} {
			from.dates <- d
			asked.Go(func() {
				if _, err := (dated{from}).RoundTrip(req); err != nil {
					t.Error(err)
				}
			})
		}
		asked.Wait()
		if shown.text != date {
			t.Fatalf("the Date is %q", shown.text)
		}
	}
}
