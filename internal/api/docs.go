package api

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
)

var (
	//go:embed docs.html
	docsHTML string
	//go:embed docs.css
	docsCSS []byte
	//go:embed docs.js
	docsJS []byte
)

var docsTemplate = template.Must(template.New("docs").Parse(docsHTML))

// Docs serves the reference: one page without outside parts, rendered once from the tables that serve the operations.
// It works without scripts. Its one script filters and sends trial calls; it stores the key in the page's memory only.
func (f *Frame) Docs() http.Handler {
	page := sync.OnceValue(func() *Document { // rendered on the first request
		var page bytes.Buffer
		if err := docsTemplate.Execute(&page, f.reference()); err != nil {
			panic(err) // a programming error in our own types, found by the tests
		}
		return &Document{Kind: "text/html; charset=utf-8", Text: page.Bytes(), Tag: digest(page.Bytes())}
	})
	policy := fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; connect-src 'self'; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'", digest(docsCSS), digest(docsJS))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		serveStatic(w, r, page())
	})
}

// The reference as the template receives it.
type (
	reference struct {
		Build    string
		Count    int
		Nouns    []noun
		Failures []failureRow
		CSS      template.CSS
		JS       template.JS
	}
	noun struct {
		Name string
		Ops  []operation
	}
	operation struct {
		ID, Path, Doc       string
		Notes               []string
		Permission, Effect  string
		Rate, MaxBody       string
		Danger              bool
		Request, Reply      []structure // the type itself, then the types inside it
		Failures            []failureRow
		Example, Curl, Seen string // Seen is the golden reply
	}
)

func (f *Frame) reference() reference {
	f.prepareAll()
	page := reference{
		Build: f.Build, Count: len(f.order), Failures: failureRows(),
		CSS: template.CSS(docsCSS), JS: template.JS(docsJS),
	}
	for _, op := range f.order {
		name := strings.Split(op.Path, "/")[1]
		i := slices.IndexFunc(page.Nouns, func(n noun) bool { return n.Name == name })
		if i < 0 {
			i = len(page.Nouns)
			page.Nouns = append(page.Nouns, noun{Name: name})
		}
		page.Nouns[i].Ops = append(page.Nouns[i].Ops, f.operation(op))
	}
	return page
}

func (f *Frame) operation(op *mounted) operation {
	id := operationID(op.Path)
	shown := operation{
		ID: id, Path: op.Path, Doc: op.Doc, Permission: op.permission(), Danger: op.Danger,
		Effect: "reads", Rate: f.rateInWords(op), MaxBody: sizeInWords(op.MaxBody),
		Request:  f.schemas.structures(op.in, id+"-request", "required", "optional"),
		Reply:    f.replied.structures(op.out, id+"-reply", "", "may be absent"),
		Failures: rows(op.own()), Example: op.Example, Curl: curl(op.Path, op.Example), Seen: strings.TrimSpace(string(op.Reply)),
	}
	if op.Notes != "" {
		shown.Notes = strings.Split(op.Notes, "\n\n")
	}
	if op.Get {
		shown.Notes = append(shown.Notes, getNote)
	}
	if op.Effect == Write {
		shown.Effect = "writes; the audit log records it as " + op.Audit
	}
	return shown
}

// curl returns the example as a shell command that reads the server's address from TOCSIN_URL and the key from APP_KEY. A body
// over 100 bytes is indented.
func curl(path, body string) string {
	if len(body) > 100 {
		v := jsontext.Value(body)
		if v.Indent(jsontext.WithIndent("  ")) == nil {
			body = string(v)
		}
	}
	return "curl \"$TOCSIN_URL" + path + "\" \\\n" +
		"  -H \"Authorization: Bearer $APP_KEY\" \\\n" +
		"  -H 'Content-Type: application/json' \\\n" +
		"  -d '" + strings.ReplaceAll(body, "'", `'\''`) + "'"
}

func (f *Frame) rateInWords(op *mounted) string {
	parts := []string{}
	if n := f.rate(op).PerSecond; n > 0 {
		parts = append(parts, fmt.Sprintf("%d a second", n))
	}
	if n := f.rate(op).PerMinute; n > 0 {
		parts = append(parts, fmt.Sprintf("%d a minute", n))
	}
	if len(parts) == 0 {
		return "no limit on calls here"
	}
	return "at most " + strings.Join(parts, " and ") + " per account"
}

func sizeInWords(n int64) string {
	switch {
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// structure is a type as a table of its fields.
type structure struct {
	ID, Name string
	Fields   []fieldRow
}

type fieldRow struct {
	Name, Type, Doc  string
	Inner, InnerName string // the ID and name of the structure that Type ends with, if any
	Need             string // whether the field must be present
	Bounds           []string
}

// structures returns the tables of a type and of every type inside it, each once, in the order of their first use.
// prefix keeps their IDs distinct from those of other operations. required and optional are the words for a field's need.
func (s *schemas) structures(schema *huma.Schema, prefix, required, optional string) []structure {
	root := notNull(schema).Ref
	queue, seen := []string{root}, map[string]bool{root: true}
	tables := []structure{}
	for len(queue) > 0 {
		ref := queue[0]
		queue = queue[1:]
		of, t := s.SchemaFromRef(ref), s.TypeFromRef(ref)
		if t == nil {
			continue
		}
		table := structure{ID: prefix + "-" + schemaOf(ref), Name: schemaOf(ref)}
		for name := range fields(of, t) {
			row := fieldRow{Name: name, Doc: of.Properties[name].Description, Need: optional, Bounds: bounds(of.Properties[name])}
			if slices.Contains(of.Required, name) {
				row.Need = required
			}
			var inner string
			row.Type, inner = inWords(of.Properties[name])
			if inner != "" {
				row.Inner, row.InnerName = prefix+"-"+schemaOf(inner), schemaOf(inner)
				if !seen[inner] {
					seen[inner] = true
					queue = append(queue, inner)
				}
			}
			table.Fields = append(table.Fields, row)
		}
		if of.AdditionalProperties != nil {
			table.Fields = append(table.Fields, fieldRow{Name: "*", Type: "any JSON", Doc: "Other members are stored unchanged.", Need: optional})
		}
		tables = append(tables, table)
	}
	return tables
}

func schemaOf(ref string) string { return strings.TrimPrefix(ref, schemaPrefix) }
