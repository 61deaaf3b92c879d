package standard_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/core/event"
	"tocsin/internal/source"
	"tocsin/internal/source/sourcetest"
	"tocsin/internal/source/standard"
)

func TestPayloads(t *testing.T) { sourcetest.Golden(t, standard.Parse) }

func FuzzParse(f *testing.F) { sourcetest.Fuzz(f, standard.Parse) }

func TestDisturbed(t *testing.T) { sourcetest.Disturbed(t, standard.Parse) }

func TestInvalidBodiesAreRefused(t *testing.T) {
	info := func(more string) string { return `{"title_rule": "a", "event_status": "Info", ` + more + `}` }
	sourcetest.Refuses(t, standard.Parse, map[string]string{
		`{}`: "title_rule: is required", `null`: "title_rule: is required", `{"title_rule": " \u0000"}`: "title_rule: is required",
		`[]`: "1 to 10000 alerts, got 0",
		`{"title_rule": "a", "event_status": "critical"}`:                                            `event_status: must be Critical, Warning, Info or Ok, got "critical"`,
		`{"title_rule": "a", "event_status": "Ok"}`:                                                  "alert_key: is required",
		info(`"alert_key": "` + strings.Repeat("é", 256) + `"`):                                      "alert_key: must be at most 255 characters, got 256",
		info(`"labels": {"1a": "b"}`):                                                                "labels: names",
		info(`"labels": {"a-b": "b"}`):                                                               "labels: names",
		info(`"labels": {"` + strings.Repeat("a", 129) + `": "b"}`):                                  "labels: names",
		info(`"labels": {"a": 1}`):                                                                   "labels.a: cannot be read: it must not be a number",
		info(`"labels": ` + labels(51)):                                                              "labels: must be at most 50, got 51",
		info(`"images": [{"src": "ftp://x"}]`):                                                       "images[0].src",
		info(`"images": [{"src": "img_\u0000"}]`):                                                    "images[0].src",
		info(`"images": [{"src": "https://e.com/` + strings.Repeat("a", 256) + `"}]`):                "images[0].src",
		info(`"images": [{"src": "img_1", "alt": "\u0000"}]`):                                        "images[0].alt",
		info(`"images": [{"src": "img_1", "alt": "x"}, {"src": "img_2", "alt": "x"}]`):               "images[1].alt: must not be given twice",
		info(`"images": [{"src": "img_1", "href": "javascript:alert(1)"}]`):                          "images[0].href",
		info(`"images": [` + strings.TrimSuffix(strings.Repeat(`{"src": "img_1"},`, 21), ",") + `]`): "images: must be at most 20, got 21",
		`{"title_rule": 5, "event_status": "Info"}`:                                                  "title_rule: cannot be read: it must not be a number",
		`nonsense`:                   "it is no JSON",
		info(`"title_rule": "b"`):    "a name is given twice",
		"{\"title_rule\": \"\xff\"}": "it is no JSON",
	})
}

func labels(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"label_%d": "x"`, i)
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("é", 3000)
	e := sourcetest.One(t, standard.Parse, `{"title_rule": "`+long+`", "event_status": "Info", "description": "`+long+`", "labels": {"a": "`+long+`"}}`)
	if len([]rune(e.Title)) != event.MaxTitle || len([]rune(e.Description)) != event.MaxDescription || len([]rune(e.Labels["a"])) != event.MaxLabelValue {
		t.Errorf("%d, %d, %d characters", len([]rune(e.Title)), len([]rune(e.Description)), len([]rune(e.Labels["a"])))
	}
	if e := sourcetest.One(t, standard.Parse, `{"title_rule": "a", "event_status": "Info", "labels": `+labels(50)+`}`); len(e.Labels) != 50 {
		t.Errorf("%d labels", len(e.Labels))
	}
}

// TestKeyOfLabels: without a key the labels and the title rule identify an alert.
func TestKeyOfLabels(t *testing.T) {
	key := func(body string) string { return sourcetest.One(t, standard.Parse, body).AlertKey }
	a := key(`{"title_rule": "a", "event_status": "Info", "labels": {"x": "1", "y": "2"}}`)
	if b := key(`{"title_rule": "a", "event_status": "Critical", "description": "now", "labels": {"y": "2", "x": "1"}}`); a != b {
		t.Errorf("%s and %s of the same alert", a, b)
	}
	if b := key(`{"title_rule": "a", "event_status": "Info", "labels": {"x": "1"}}`); a == b {
		t.Errorf("%s of two alerts", a)
	}
}

func TestBlankTitle(t *testing.T) {
	if e := sourcetest.One(t, standard.Parse, `{"title_rule": "$a", "event_status": "Info", "labels": {"a": " "}}`); e.Title != "$a" {
		t.Errorf("%q", e.Title)
	}
}

// TestNoNeighbourIsLost: a malformed alert costs the others in its batch nothing, whatever is wrong with it.
func TestNoNeighbourIsLost(t *testing.T) {
	good := `{"title_rule": "a", "event_status": "Info"}`
	for bad, want := range map[string]string{
		`{"title_rule": "twice", "event_status": "Info", "event_status": "Ok"}`: "a name is given twice", "{\"title_rule\": \"caf\xe9\", \"event_status\": \"Info\"}": "it is no JSON",
	} {
		batch, err := standard.Parse(source.Request{Body: []byte(`[` + good + `, ` + bad + `, ` + good + `]`), At: sourcetest.Came, MaxAlerts: source.MaxAlerts})
		if err != nil || len(batch.Events) != 2 || len(batch.Refused) != 1 || batch.Refused[0].Index != 1 || !strings.Contains(batch.Refused[0].Message, want) {
			t.Errorf("%s: %+v, %v", bad, batch, err)
		}
	}
}

func TestSteady(t *testing.T) {
	sourcetest.Steady(t, standard.Parse, `{"title_rule": "a", "event_status": "Info", "labels": {"1": "", "2": "", "3": "", "4": ""}}`)
}
