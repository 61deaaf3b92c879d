package browser

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"tocsin/internal/platform/db"
	"tocsin/test/browser/world"
)

// latin is a run of words in a text of which some are Latin.
var latin = regexp.MustCompile(`[\p{Latin}\d][\p{Latin}\d_'’./@+-]*(?:[ ,:;&()%–-]+[\p{Latin}\d][\p{Latin}\d_'’./@+-]*)*`)

// international are the words that are the same in Chinese: names of products, formats and protocols, and units.
var international = regexp.MustCompile(`^(?i:tocsin|app key|api|openapi|url|uri|http|https|json|csv|ical|webhook|e-?mail|email|sms|push|web push|slack|teams|telegram|discord|ntfy|zoom|` +
	`prometheus|alertmanager|grafana|curl|totp|openid connect|oidc|oauth|rum|cpu|ip|id|tls|smtp|utc|cet|gmt|p50|p95|p99|mttr|mtta|kb|mb|ms|s|x|vs|ok|en|english|` +
	`get|post|promql|sql|markdown|html|yaml|go|java|esc|enter|ctrl|shift|tab|[a-z]|[0-9A-F]{6}|https?://\S*|\S+@\S+|\w+/[\w/]+)$`)

// Pages in Chinese have no English text but what people of the account have written.
func TestNoEnglishIsLeftInChinese(t *testing.T) {
	w := begin(t)
	world.PushDemo(t, w)
	c := client(t, w, w.Keys.All)
	c.Choose("lang", "zh")
	left, ours := map[string]string{}, map[string]bool{} // the first page of each text, and whether a template wrote it
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
			for _, run := range latin.FindAllString(text.text, -1) {
				if word := withoutFigures(run); word != "" && left[run] == "" && !international.MatchString(run) && !international.MatchString(word) {
					left[run] = v.Path
				}
				ours[run] = ours[run] || !text.data
			}
		}
	}, "/", "/sign-in")
	data, keys := written(t, w), catalog(t)
	for _, run := range slices.Sorted(maps.Keys(left)) {
		if word := withoutFigures(run); keys[word] && ours[run] || !isIn(data, run) && !isIn(data, word) {
			t.Errorf("%s: %q", left[run], word)
		}
	}
	if pages < 4 {
		t.Errorf("%d pages were found", pages)
	}
}

// withoutFigures returns a text without the figures around it.
func withoutFigures(text string) string { return strings.Trim(text, "0123456789 ,:;./+-–") }

// isIn reports whether a text is one of data. A longer one may be a part of it: a word or two may be in it by chance.
func isIn(data, text string) bool {
	return strings.Contains(data, "\n"+text+"\n") || strings.Count(text, " ") >= 2 && strings.Contains(data, text)
}

// piece is a text of a page; data reports whether it is where templates write names that people have chosen.
type piece struct {
	text string
	data bool
}

// shown returns the texts of a page that people read or a screen reader speaks, except samples of code and what is marked
// as English.
func shown(page *html.Node) (texts []piece) {
	var walk func(*html.Node, bool)
	walk = func(n *html.Node, data bool) {
		if n.Type == html.ElementNode {
			switch n.Data {
			case "script", "style", "code", "pre", "kbd", "samp", "textarea":
				return
			case "bdi", "option":
				data = true
			}
			if world.Attribute(n, "lang") == "en" {
				return
			}
			for _, name := range []string{"aria-label", "title", "placeholder", "alt", "aria-description", "aria-roledescription"} {
				texts = append(texts, piece{world.Attribute(n, name), false})
			}
		}
		if n.Type == html.TextNode {
			texts = append(texts, piece{n.Data, data})
		}
		for c := range n.ChildNodes() {
			walk(c, data)
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

// catalog returns the English texts that the console has a translation for: they are left over even where data holds the
// same word.
func catalog(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../../internal/console/chinese*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no catalog: %v", err)
	}
	keys := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if pair, ok := n.(*ast.KeyValueExpr); ok {
				if key, ok := pair.Key.(*ast.BasicLit); ok && key.Kind == token.STRING {
					english, err := strconv.Unquote(key.Value)
					value, literal := pair.Value.(*ast.BasicLit)
					if err == nil && literal && value.Value != key.Value {
						keys[english] = true
					}
				}
			}
			return true
		})
	}
	return keys
}
