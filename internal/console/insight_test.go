package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// insightPages are the pages of figures.
var insightPages = []string{"/insight", "/insight?days=28", "/insight?days=28&unit=week&label=resource", "/insight?days=90", "/insight?days=90&unit=month",
	"/insight?by=team", "/insight?by=channel&days=28", "/insight?by=responder&days=90"}

// TestInsight compares a window with the one before, for the account, its teams, channels and persons.
func TestInsight(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	w.clock.Add(8 * 24 * time.Hour)
	w.push(`{"title_rule": "Search burns", "event_status": "Critical", "alert_key": "a", "labels": {"check": "search"}}`)
	incident := w.signIn(ownerKey).get("/incidents?q=Search").link("/incidents/")
	w.push(`{"title_rule": "Mail burns", "event_status": "Critical", "alert_key": "b", "labels": {"check": "\"><img src=x>"}}`)
	w.clock.Add(10 * time.Minute)
	b := w.signIn(annKey)
	b.post(incident+"/ack", "seen", "Triggered")
	b.get("/").shows(`href="/insight"`, "/insight")
	b.get("/insight").shows("<span>&#43;1</span>", "10 min", "no value before", "Still running.", `fill="currentColor"`, "<title>Sun 29 Nov: 2</title>", "Highest: 2, Sun 29 Nov.",
		"<bdi>search</bdi>", "&#34;&gt;&lt;img src=x&gt;", "!<img src=x", "!style=", "!By month", "!>Later<")
	b.get("/insight?from=2026-11-16").shows("<title>Sat 21 Nov: 1</title>", "<span>&#43;1</span>", ">Later<", "No alert of this window has this label", `value="2026-11-16"`)
	b.get("/insight?from=2026-11-30").shows("<span>−2</span>", "10 min before", "Nothing in this window.")
	b.get("/insight?days=90").shows("week from Mon 23 Nov", "By month")
	b.get("/insight?days=90&unit=month").shows("<title>November 2026: 3</title>")
	b.get("/insight?days=month").shows("compared with the month before", "<title>Sat 21 Nov: 1</title>", "from=2026-10-01", `aria-current="true">Month`, "By week", `name="days" value="month"`)
	b.get("/insight?days=month&from=2026-10-17&unit=week").shows("Thu 1 Oct", "Sat 31 Oct", "from=2026-09-01", "from=2026-11-01", "Nothing in this window.")
	b.get("/insight").shows("/incidents?from=2026-11-23&#43;00%3A00&amp;q=search&amp;show=all&amp;to=2026-11-29&#43;23%3A59", "Latest alert", "/silence\">Silence")
	b.get("/incidents?from=2026-11-23T00%3A00&q=search&show=all&to=2026-11-29T23%3A59").shows("Search burns", "!Mail burns")
	b.get("/insight?by=team").shows(`href="/teams/7000000000021"><bdi>ops</bdi>`, ">&#43;1<")
	b.get("/insight?by=channel&from=2026-11-30").shows(`href="/channels/7000000000041"><bdi>Shop</bdi>`, ">−2<")
	b.get("/insight?by=responder").shows(`href="/people/7000000000012"><bdi>Ann Day</bdi>`, "!Noise reduction")
}

// TestInsightOfNothing shows what to do when there are no figures.
func TestInsightOfNothing(t *testing.T) {
	t.Parallel()
	w := begin(t)
	b := w.signIn(emptyKey)
	b.get("/insight").shows("as before", "Nothing in this window.", "No alert of this window has this label", "!NaN")
	for _, by := range []string{"team", "channel", "responder"} {
		b.get("/insight?by=" + by).shows("Nothing in this period.")
	}
}

// TestInsightRefuses refuses parameters that mean nothing, and persons who may not read incidents.
func TestInsightRefuses(t *testing.T) {
	t.Parallel()
	w := begin(t)
	b := w.signIn(annKey)
	for query, says := range map[string]string{
		"by=person": "by account, team, channel or responder", "days=8": "7, 28 or 90 days", "days=x": "7, 28 or 90 days", "unit=hour": "7 days are divided",
		"days=90&unit=day": "90 into weeks or months", "from=yesterday": "Enter a date.", "from=0001-01-01": "start_time", "from=9999-12-31": "start_time",
		"label=" + strings.Repeat("x", 300): "label",
	} {
		b.get("/insight?"+query).showsWith(http.StatusBadRequest, says)
	}
	made := b.post("/keys", "name", "narrow", "permission", "Schedules Read (on-call)")
	secret := regexp.MustCompile(`<code id="secret">([^<]+)</code>`).FindStringSubmatch(made.body)
	if secret == nil {
		t.Fatal(made.main())
	}
	narrow := w.signIn(secret[1])
	narrow.get("/").shows("!href=\"/insight\"")
	for _, page := range insightPages {
		narrow.get(page).showsWith(http.StatusForbidden, "Incidents Read (on-call)")
	}
}

// TestInsightInChinese reads every page of figures in Chinese, of a full and an empty account.
func TestInsightInChinese(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	for _, key := range []string{ownerKey, emptyKey} {
		b := w.signIn(key)
		b.lang = "zh"
		for _, page := range append(insightPages, "/insight?from=2026-11-30", "/insight?days=1", "/insight?by=x", "/insight?unit=x") {
			for _, text := range english(b.get(page).body) {
				t.Errorf("%s: %q", page, text)
			}
			w.clock.Add(time.Second)
		}
	}
}
