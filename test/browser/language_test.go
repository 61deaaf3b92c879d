package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"tocsin/internal/platform/db"
	"tocsin/test/browser/world"
)

// latin is a run of words in a text of which some are Latin.
var latin = regexp.MustCompile(`[\p{Latin}\d][\p{Latin}\d_'’./@+-]*(?:[ ,:;&()%–-]+[\p{Latin}\d][\p{Latin}\d_'’./@+-]*)*`)

// international are the words that are the same in Chinese: names of products, formats and protocols, units, and what is
// typed as it stands, such as labels.service.
var international = regexp.MustCompile(`^(?i:tocsin|app key|api|openapi|url|uri|http|https|json|csv|ical|webhook|e-?mail|email|sms|push|web push|slack|teams|microsoft teams|telegram|discord|ntfy|zoom|` +
	`dingtalk|feishu|wecom|pagerduty|sentry|zabbix|datadog|mimir|prometheus alertmanager|webhook tocsin-alert|tocsin-alert|tocsin-ok|victoriametrics|key|alerting|contact points?|add contact point|test|media types|integrations|webhooks|send to|settings|developer settings|alert rule action|issue|issue & event|flutter|react native|kotlin multiplatform|dsn|sentry sdk|datadog sdk|labels|description|result|read|routing key|service key|watchdog|webhook url|warning|critical|info|newrelic|opsgenie|elastalert|nagios|roku|unity|react-native|kotlin-multiplatform|android|ios|iphone|sls|chrome|linux|rules|` +
	`prometheus|loki|victorialogs|clickhouse|elasticsearch|mysql|oracle|postgresql|cron|every|and|host|default|fra|cn|` +
	`alertmanager|grafana|curl|totp|openid connect|oidc|oauth|rum|cpu|ip|id|tls|smtp|utc|cet|cest|gmt|p50|p95|p99|mttr|mtta|kb|mb|[kmgt]ib|ms|s|x|vs|ok|en|english|` +
	`dsn|sdk|slack webhook|sentry sdk|datadog sdk|ios|android|react native|flutter|kotlin multiplatform|roku|unity|microsoft teams|lark|title|description|result|` +
	`app id|app secret|corp id|secret|agent id|tenant id|xoxb-|` +
	`cloud id|cloud|pem|sha|disable|require|verify-ca|verify-full|self-managed|get|post|promql|sql|markdown|html|yaml|go|java|esc|enter|ctrl|shift|tab|[a-z]|[0-9A-F]{6}|https?://\S*|\S+@\S+|\w+/[\w/]+|[\w-]+([.:_][\w-]+)+)$`)

// separators of a list of such words.
var separators = regexp.MustCompile(`[,;] *`)

func isInternational(run string) bool {
	for _, word := range separators.Split(run, -1) {
		word = withoutFigures(word)
		if word != "" && !international.MatchString(word) {
			return false
		}
	}
	return true
}

// sentences are the pages with sentences of the engine, which are marked as English.
var sentences = map[string]bool{
	"/": true, "/lint": true, "/untold": true, "/incidents/{id}": true, "/incidents/{id}/why": true, "/incidents/{id}/similar": true,
	"/alerts/{id}": true, "/alerts/{id}/why": true, "/channels/{id}/ladder": true,
	"/integrations/{id}/route": true,
}

// Pages in Chinese have no English text but what people of the account have written.
func TestNoEnglishIsLeftInChinese(t *testing.T) {
	t.Parallel()
	w := full(t)
	c := client(t, w, w.Keys.All)
	c.Choose("lang", "zh")
	data := written(t, w)
	conditions := strings.NewReplacer(patterns(data)...)
	left := map[string]string{} // the first page of each text
	pages := 0
	c.Crawl(func(v world.Visit) {
		if !world.IsPage(v.Answer) {
			return
		}
		pages++
		if len(world.Find(v.Answer.HTML, "html", "lang", "zh-Hans")) != 1 {
			t.Errorf("%s is not in Chinese", v.Path)
		}
		for _, text := range shown(v.Answer.HTML) {
			for _, run := range latin.FindAllString(conditions.Replace(text.text), -1) {
				if bare, _, _ := strings.Cut(world.Shape(v.Path), "?"); text.english && sentences[bare] {
					continue
				}
				if word := withoutFigures(run); word != "" && left[run] == "" && !international.MatchString(run) && !isInternational(run) {
					left[run] = v.Path
				}
			}
		}
	}, "/", "/sign-in")
	for _, run := range slices.Sorted(maps.Keys(left)) {
		word := withoutFigures(run)
		others := slices.ContainsFunc(strings.Split(word, ", "), func(name string) bool { return !isIn(data, name) }) // than a list of names
		channel, rule, pair := strings.Cut(word, ": ")                                                                // an escalation rule of a channel
		pair = pair && isIn(data, channel) && isIn(data, rule)
		if !pair && !isIn(data, run) && !isIn(data, word) && !isIn(data, argument(word)) && others {
			t.Errorf("%s: %q", left[run], word)
		}
	}
	if pages < 4 {
		t.Errorf("%d pages were found", pages)
	}
}

// withoutFigures returns a text without the figures around it.
func withoutFigures(text string) string { return strings.Trim(text, "0123456789 ,:;./+-–") }

// argument returns the name or value in a sentence: without the operator of a condition before it and the id after it.
func argument(text string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(text, "NOT"), "IN "), " (")
	return name
}

// isIn reports whether a text is one of data, or the address without what protocol it begins with. A longer one may be a
// part of it: a word or two may be in it by chance.
func isIn(data, text string) bool {
	return strings.Contains(data, "\n"+text+"\n") || strings.Contains(data, "\n"+text+")\n") || strings.Contains(data, "://"+text) ||
		strings.Count(text, " ") >= 2 && strings.Contains(data, text)
}

// piece is a text of a page.
type piece struct {
	text    string
	english bool // it is marked as English
}

// inEnglish reports whether a Chinese page may hold the text of an element in English: the button for the language, and the
// sentences of the API where the page names them so.
func inEnglish(n *html.Node) bool {
	return n.Data == "button" || n.Data == "option" || world.Attribute(n, "class") == "sentences"
}

// shown returns the texts of a page that people read or a screen reader speaks, except samples of code and what may be in
// English.
func shown(page *html.Node) (texts []piece) {
	var walk func(*html.Node, bool)
	walk = func(n *html.Node, english bool) {
		if n.Type == html.ElementNode {
			switch n.Data {
			case "script", "style", "code", "pre", "kbd", "samp", "textarea":
				return
			}
			if class := world.Attribute(n, "class"); strings.HasPrefix(class, "ava ") || class == "ini" { // the initials of a person
				return
			}
			if world.Attribute(n, "lang") == "en" {
				if inEnglish(n) {
					return
				}
				english = true
			}
			for _, name := range []string{"aria-label", "title", "placeholder", "alt", "aria-description", "aria-roledescription"} {
				texts = append(texts, piece{world.Attribute(n, name), english})
			}
		}
		if n.Type == html.TextNode {
			texts = append(texts, piece{n.Data, english})
		}
		for c := range n.ChildNodes() {
			walk(c, english)
		}
	}
	walk(page, false)
	return texts
}

// written returns all texts of the database, one a line: what people have written and systems have sent.
func written(t *testing.T, w *world.World) string {
	t.Helper()
	var b strings.Builder
	err := w.App.DB.Read(context.Background(), func(tx *db.Tx) error {
		columns, err := db.All(tx, func(scan db.Scan) (c [2]string, err error) { return c, scan(&c[0], &c[1]) },
			`SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.type = 'TEXT'`)
		for _, c := range columns {
			var texts []string
			if err == nil {
				texts, err = db.All(tx, db.Column[string], `SELECT DISTINCT COALESCE("`+c[1]+`", '') FROM "`+c[0]+`"`)
			}
			for _, text := range texts {
				flatten(&b, text, strings.Contains(c[1], "labels"))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// patterns returns the conditions of the data that are regular expressions, each followed by nothing to replace it by.
func patterns(data string) (pairs []string) {
	for line := range strings.Lines(data) {
		line = strings.TrimSpace(line)
		if len(line) > 2 && len(line) < 200 && strings.ContainsAny(line, "|*^$/'") {
			pairs = append(pairs, line, "")
		}
	}
	return pairs
}

// flatten writes a text, or the texts of the JSON that it is. The names of labels are texts of people, too.
func flatten(b *strings.Builder, text string, labels bool) {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		b.WriteString("\n" + text + "\n")
		return
	}
	var walk func(any, bool)
	walk = func(v any, named bool) {
		switch v := v.(type) {
		case string:
			b.WriteString("\n" + v + "\n")
		case bool:
			fmt.Fprintf(b, "\n%t\n", v)
		case []any:
			for _, e := range v {
				walk(e, named)
			}
		case map[string]any:
			for name, e := range v {
				if named {
					b.WriteString("\n" + name + "\n")
				}
				walk(e, name == "labels")
			}
		}
	}
	walk(v, labels)
}
