package page

import (
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
)

// Number returns a whole number of an address or a form; 0: it is none.
func Number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// ValueOf returns what a member of a reply holds; zero: it is absent.
func ValueOf[T any](member *T) (value T) {
	if member != nil {
		value = *member
	}
	return value
}

// Number returns a whole number of the form; 0: it is none.
func (v *Visit) Number(name string) int64 { return Number(v.Field(name)) }

// IsNew reports whether the address is the form of a new object.
func (v *Visit) IsNew() bool { return v.Request.PathValue("id") == "new" }

// Does returns an action that calls one operation and leads to an address.
func Does[Out, In any](path, next string, request func(*Visit) In) func(*Visit) (string, error) {
	return func(v *Visit) (string, error) { return next, Do[Out](v, path, request(v)) }
}

// Unsigned returns the number that a text is; 0: it is none.
func Unsigned(text string) uint64 {
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}

// NoSuchForm returns the error of a form that is none of the page's.
func (v *Visit) NoSuchForm() error {
	return &api.Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: v.T("There is no such form.")}
}

// IgnoreMissing returns nil for the error of an object that does not exist, and every other error.
func IgnoreMissing(err error) error {
	if r := api.RefusalOf(err); r != nil && r.Code == "ResourceNotFound" {
		return nil
	}
	return err
}

// ID returns the identifier in the address; 0 for what is none.
func (v *Visit) ID() int64 { return Number(v.Request.PathValue("id")) }

// LocalTime is how forms write a date and a time: by 24 hours, in every browser.
const LocalTime = "2006-01-02 15:04"

// Local returns a time in the visitor's time zone as forms write it.
func (v *Visit) Local(t time.Time) string { return t.In(v.Zone).Format(LocalTime) }

// ParseLocal returns the moment that a form names in a time zone. Browsers write T between the date and the time.
func ParseLocal(text string, zone *time.Location) (time.Time, error) {
	return time.ParseInLocation(LocalTime, strings.Replace(text, "T", " ", 1), zone)
}

// momentInput returns the attributes of an input of a date and a time. The browser's own input follows the browser's language:
// 12:21 AM is read wrong at night.
func momentInput() template.HTMLAttr {
	return `type="text" data-moment maxlength="16" autocomplete="off" placeholder="2026-11-26 02:13" title="2026-11-26 02:13" ` +
		`pattern="[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}"`
}

// clockInput is momentInput of a time of day.
func clockInput() template.HTMLAttr {
	return `type="text" data-clock maxlength="5" autocomplete="off" placeholder="09:00" title="09:00" pattern="([01][0-9]|2[0-3]):[0-5][0-9]"`
}

// DryRun is a request that changes nothing.
var DryRun = api.DryRun{Only: true}

// Wrong returns the error of a form that was not filled in well.
func Wrong(message string) error {
	return &api.Refusal{Status: http.StatusBadRequest, Code: "InvalidParameter", Message: message}
}

// NotHere returns the error of an address that shows nothing.
func NotHere(v *Visit) error {
	return &api.Refusal{Status: http.StatusNotFound, Code: "RouteNotFound", Message: v.T("There is no such page.")}
}

// Shown returns the value of a field for people.
func Shown(value jsontext.Value) string {
	var some any
	if len(value) == 0 || json.Unmarshal(value, &some) != nil {
		return ""
	}
	switch some := some.(type) {
	case nil:
		return ""
	case string:
		return some
	case []any:
		var words []string
		for _, one := range some {
			if text, ok := one.(string); ok {
				words = append(words, text)
			}
		}
		return strings.Join(words, ", ")
	}
	return string(value)
}

// Cut returns a text of at most n characters.
func Cut(text string, n int) string {
	if all := []rune(text); len(all) > n {
		return string(all[:n]) + "…"
	}
	return text
}

// FieldLines returns lists of fields as text: a list on each line, its fields joined by commas.
func FieldLines(lists [][]string) string {
	var text []string
	for _, list := range lists {
		text = append(text, strings.Join(list, ", "))
	}
	return strings.Join(text, "\n")
}

// FieldLists is the reverse of FieldLines.
func FieldLists(text string) [][]string {
	lists := [][]string{}
	for line := range strings.Lines(text) {
		if list := Commas(line); len(list) > 0 {
			lists = append(lists, list)
		}
	}
	return lists
}

// Commas returns the parts of a text between commas or line ends.
func Commas(text string) []string {
	parts := []string{}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		part = strings.TrimSpace(part)
		if part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// Values returns the values of a condition, one from each line.
func Values(text string) []string {
	vals := []string{}
	for line := range strings.Lines(text) {
		line = strings.Trim(line, "\r\n")
		if line != "" {
			vals = append(vals, line)
		}
	}
	return vals
}

// Refuses reports whether what was entered in an input was refused. Errors write parts[0].name for what is the input parts.0.name.
func (v *Visit) Refuses(name string) bool {
	refused := (*fault.Error)(nil)
	if v.Failure == nil || !errors.As(error(v.Failure), &refused) {
		return false
	}
	same := strings.NewReplacer("[", ".", "]", "")
	return same.Replace(refused.Field) == same.Replace(name)
}

// Typed returns what the form has in a field when it is shown again, else the stored value.
func (v *Visit) Typed(name, stored string) string {
	if sent, has := v.Request.PostForm[name]; has {
		return sent[0]
	}
	return stored
}

// Numbers returns the numbers that a form holds in a field; others are left out.
func (v *Visit) Numbers(name string) []int64 {
	all := []int64{}
	for _, text := range v.Request.PostForm[name] {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			all = append(all, n)
		}
	}
	return all
}
