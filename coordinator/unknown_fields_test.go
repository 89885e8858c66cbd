package coordinator

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// A field that a request does not have was dropped, so that what it says counted as not given.
func TestUnknownFieldsOfABodyAreRefused(t *testing.T) {
	c := startTest(t, testConfig(t.TempDir()))
	url, client := serveTest(t, c)
	post := func(procedure, contentType, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/gram.v1."+procedure,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Authorization", "Bearer "+c.AdminToken().Reveal())
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	for _, kind := range []string{"application/json", "application/json; charset=utf-8"} {
		for _, r := range []struct{ procedure, body, says string }{
			{"JobService/Submit", `{"id":"a","spec":"{}"}`,
				`no field \"spec\" in the request (the fields of SubmitRequest: id, specJson)`},
			{"JobService/Get", `{"idd":"a"}`, `no field \"idd\" in the request; did you mean \"id\"?`},
			{"JobService/Get", `{"ID":"a"}`, `no field \"ID\" in the request; did you mean \"id\"?`},
			{"JobService/Submit", `{"specJson":"{}","spec_json":"{}"}`,
				`field \"spec_json\" stands twice in the request`},
			{"JobService/Get", `{"id":null,"id":"a"}`, `field \"id\" stands twice in the request`},
			{"ScheduleService/CreateSchedule", `{"definition":{"timezone":"UTC"}}`,
				`no field \"timezone\" in definition; did you mean \"timeZone\"?`},
			{"JobService/List", `{"limit":1`, `unexpected`},
			{"JobService/List", ``, `the body is empty`},
		} {
			if code, text := post(r.procedure, kind, r.body); code != http.StatusBadRequest ||
				!strings.Contains(text, r.says) || !strings.Contains(text, "invalid_argument") {
				t.Errorf("%s %s (%s): %d %s, want %s", r.procedure, r.body, kind, code, text, r.says)
			}
		}
		for _, body := range []string{`{}`, `{"limit":1,"pageToken":""}`, `{"limit":1,"page_token":""}`} {
			if code, text := post("JobService/List", kind, body); code != http.StatusOK {
				t.Errorf("%s: %d %s", body, code, text)
			}
		}
	}
	stopTest(t, c)
}
