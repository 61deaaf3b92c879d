package blackbox

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// tour has what the reply to each call of the demo's second part must have, in the order in which they are printed.
var tour = []struct {
	path  string
	holds func(data map[string]any) bool
}{
	{"/insight/team", func(data map[string]any) bool {
		return all(data, func(team map[string]any) bool {
			return number(team, "mean_seconds_to_ack") > 0 && number(team, "mean_seconds_to_close") > 0 && number(team, "noise_reduction_pct") > 0
		}) == 3
	}},
	{"/incident/info", func(data map[string]any) bool {
		fields, _ := data["fields"].(map[string]any)
		return fields["impact"] == "no orders" && fields["customers_affected"] == true
	}},
	{"/incident/past/list", func(data map[string]any) bool {
		return all(data, func(past map[string]any) bool { return number(past, "score") > 0 && len(past["reasons"].([]any)) > 0 }) > 0
	}},
	{"/change/list", func(data map[string]any) bool {
		return all(data, func(change map[string]any) bool { return change["data_source_name"] == "Deployments" }) == 6 &&
			strings.HasPrefix(items(data)[0]["title"].(string), "Basket")
	}},
	{"/status-page/change/active/list", func(data map[string]any) bool {
		return all(data, func(change map[string]any) bool {
			return change["status"] == "identified" && len(change["affected_components"].([]any)) == 1
		}) == 1
	}},
	{"/route/history/list", func(data map[string]any) bool {
		var versions []float64
		for _, v := range items(data) {
			versions = append(versions, number(v, "version"))
		}
		return slices.Equal(versions, []float64{4, 3, 2, 1})
	}},
	{"/schedule/lint", func(data map[string]any) bool {
		gaps := all(data, func(f map[string]any) bool { return f["code"] == "on_call_gap" })
		return gaps == 1 || gaps == 2 // a gap that has begun, on Mondays before 9, is listed beside those to come
	}},
	{"/schedule/stats", func(data map[string]any) bool {
		return all(data, func(p map[string]any) bool {
			return number(p, "seconds") > 0 && number(p, "night_seconds") > 0 && number(p, "weekend_seconds") > 0 && number(p, "holiday_seconds") > 0
		}) == 7
	}},
	{"/schedule/explain", func(data map[string]any) bool { return strings.Contains(words(data), "stands in") }},
	{"/schedule/explain", func(data map[string]any) bool {
		return strings.Contains(words(data), "a day off in calendar Büro Berlin") && data["oncall"] != nil
	}},
	{"/schedule/cover/list", func(data map[string]any) bool {
		return all(data, func(q map[string]any) bool {
			return q["status"] == "open" && number(q, "end")-number(q, "start") == 4*3600 && len(q["asked_ids"].([]any)) == 2
		}) == 3
	}},
	{"/schedule/calendar/url", func(data map[string]any) bool { return strings.HasSuffix(data["url"].(string), ".ics") }},
}

func TestDemoShowsWhatItPromises(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "demo", "--listen", "127.0.0.1:0")
	calls := slices.DeleteFunc(slices.Clone(s.lines), func(line string) bool { return !strings.HasPrefix(line, "curl ") })
	calls = calls[max(0, len(calls)-len(tour)):]
	if len(calls) != len(tour) {
		t.Fatalf("%d calls, want %d", len(calls), len(tour))
	}
	for i, want := range tour {
		if !strings.Contains(calls[i], s.url+want.path+"?") {
			t.Errorf("the call is %s, want %s", calls[i], want.path)
			continue
		}
		var data map[string]any
		reply := s.curl(calls[i])
		if err := json.Unmarshal(reply.data, &data); err != nil || !want.holds(data) {
			t.Errorf("%s: %v: %s", calls[i], err, reply.data)
		}
		if want.path == "/schedule/calendar/url" {
			feed(t, s.url+data["url"].(string))
		}
	}
}

// feed reads a calendar as a calendar program does.
func feed(t *testing.T, url string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(text), "BEGIN:VEVENT") {
		t.Errorf("%s: %d, %v: %s", url, r.StatusCode, err, text)
	}
}

func items(data map[string]any) (list []map[string]any) {
	raw, _ := data["items"].([]any)
	for _, item := range raw {
		list = append(list, item.(map[string]any))
	}
	return list
}

// all returns how many items there are, or -1 if one of them does not hold.
func all(data map[string]any, holds func(map[string]any) bool) int {
	list := items(data)
	for _, item := range list {
		if !holds(item) {
			return -1
		}
	}
	return len(list)
}

func number(of map[string]any, name string) float64 {
	n, _ := of[name].(float64)
	return n
}

func words(data map[string]any) (text string) {
	list, _ := data["words"].([]any)
	for _, w := range list {
		text += w.(string) + "\n"
	}
	return text
}
