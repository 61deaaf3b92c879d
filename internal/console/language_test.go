package console_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// hostile is a text that would run, break the page or turn it around if it were not escaped.
const hostile = `\"><img src=x onerror=alert(1)></textarea><script>alert(2)</script>{{.}}\u202e`

// TestHostileTexts puts texts of strangers into every part of an alert, and looks at every page that shows it.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	w := begin(t)
	long := strings.Repeat("W", 6000)
	w.push(`{"title_rule": "` + hostile + `", "event_status": "Critical", "alert_key": "k` + hostile + `", "description": "` + hostile + `", "labels": {"env": "` + hostile + `", "long": "` + long + `", "link": "javascript:alert(3)", "data": "data:text/html,x", "odd": "http://%zz", "fine": "https://example.com/?a=1&b=\"x"}}`)
	owner := w.signIn(ownerKey)
	path := owner.get("/incidents").link("/incidents/")
	owner.post(path+"/comment", "comment", html.UnescapeString(strings.ReplaceAll(hostile, `\"`, `"`)))
	alert := owner.get("/alerts").link("/alerts/")
	for _, page := range []string{"/", "/incidents?q=%3Cimg%3E%22", "/incidents", path, path + "/why", path + "/similar", path + "/people?q=%22%3E%3Cimg%3E", path + "/merge", path + "/edit", "/alerts", alert, alert + "/why"} {
		a := owner.get(page).shows("!<img src=x", "!<script>alert", `!href="javascript`, `!href="data:`)
		if strings.Count(a.body, "<script") != 1 {
			t.Errorf("%s has %d scripts", page, strings.Count(a.body, "<script"))
		}
	}
}

// TestChinese reads every page with a full and an empty account in Chinese: no text that has a translation stays English.
func TestChinese(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	w.push(`{"title_rule": "Staging burns", "event_status": "Critical", "alert_key": "staging", "labels": {"env": "staging"}}`)
	w.push(`{"title_rule": "Only a test", "event_status": "Critical", "alert_key": "test", "labels": {"env": "test"}}`)
	for _, key := range []string{ownerKey, emptyKey} {
		b := w.signIn(key)
		pages := []string{"/", "/incidents", "/incidents?show=mine", "/incidents?show=all", "/alerts", "/alerts?show=muted", "/alerts?show=over", "/alerts?show=all", "/alerts?show=dropped"}
		if key == ownerKey {
			incident, alert := b.get("/incidents").link("/incidents/"), b.get("/alerts?q=Staging").link("/alerts/")
			b.post(incident+"/ack", "seen", "Triggered", "comment", "备注")
			for _, part := range []string{"", "?done=ack", "?feed=note", "/why", "/similar", "/people", "/merge", "/edit"} {
				pages = append(pages, incident+part)
			}
			pages = append(pages, alert, alert+"/why")
		}
		b.lang = "zh"
		for _, page := range pages {
			for _, text := range english(b.get(page).shows().body) {
				t.Errorf("%s: %q", page, text)
			}
		}
	}
}

var (
	markup   = regexp.MustCompile(`(?s)<(style|script|title).*?</(style|script|title)>|<[a-z]+[^>]*\blang="en"[^>]*>.*?</(span|code|p|ol|button)>|<bdi>.*?</bdi>|<(code|kbd)>.*?</(code|kbd)>|<option value="[0-9a-f]+"[^>]*>.*?</option>`)
	tags     = regexp.MustCompile(`<[^>]*>`)
	sentence = regexp.MustCompile(`[A-Za-z]+ [A-Za-z]+`)
)

// english returns what looks like an English sentence in a page, without what strangers and the engine wrote.
func english(body string) (found []string) {
	for _, text := range sentence.FindAllString(tags.ReplaceAllString(markup.ReplaceAllString(body, "|"), "|"), -1) {
		switch text {
		case "Olga Owner", "Ann Day", "Bob Night", "Rita Reader", "App key", "on call", "Nights only", "Staging is":
		default:
			found = append(found, text)
		}
	}
	return found
}

// TestChineseReasons reads in Chinese what the engine wrote: why a rule matched, why a person was notified or no one was,
// what is wrong with the configuration, and why the server refused something. None of it stays English.
func TestChineseReasons(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	w.push(`{"title_rule": "Staging burns", "event_status": "Critical", "alert_key": "staging", "labels": {"env": "staging"}}`)
	w.push(`{"title_rule": "Only a test", "event_status": "Critical", "alert_key": "test", "labels": {"env": "test"}}`)
	b := w.signIn(ownerKey)
	w.call(ownerKey, "/channel/unsubscribe/rule/create", `{"channel_id": 7000000000041, "rule_name": "Odd", "filters": [[{"key": "alert_severity", "oper": "IN", "vals": ["critical"]}]]}`)
	w.call(ownerKey, "/channel/create", `{"channel_name": "Alone", "team_id": 7000000000021}`)
	incident, muted := b.get("/incidents").link("/incidents/"), b.get("/alerts?q=Staging").link("/alerts/")
	b.lang = "zh"
	b.post(incident+"/ack", "seen", "Triggered", "comment", "备注")
	for _, path := range []string{"/", incident, incident + "/why", muted, muted + "/why", "/alerts?show=dropped", "/untold", "/lint"} {
		page := b.get(path).shows()
		for _, text := range foreign.FindAllString(page.body, -1) {
			t.Errorf("%s: %s", path, text)
		}
	}
	b.post("/teams", "name", strings.Repeat("x", 3000)).showsWith(400, "字段", "未被接受")
	b.post("/teams/7000000000021/delete").showsWith(400, "服务器拒绝了此操作", "使用")
	b.get(muted + "/why").shows("env 为 &#34;staging&#34;")
}

// foreign is what the console marks as English on a page in Chinese.
var foreign = regexp.MustCompile(`<span lang="en"><bdi>.*?</bdi></span>`)
