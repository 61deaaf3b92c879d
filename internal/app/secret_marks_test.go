package app_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api"
)

// requestMember is a member of a request that can hold text: a string, the strings of a list or a map, or a document
// without a type.
type requestMember struct {
	path string // such as headers.[] or settings.*
	doc  string
	mark string // of a secret; empty: it has none
}

// requestMembers returns the members of the requests of all operations that can hold text, by the path of the operation.
func requestMembers(t *testing.T, f *api.Frame) map[string][]requestMember {
	t.Helper()
	document, err := f.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	var parsed struct {
		Components struct{ Schemas map[string]object }
		Paths      map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct{ Schema object }
				}
			}
		}
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		t.Fatal(err)
	}
	all := map[string][]requestMember{}
	var walk func(op string, at []string, s object, doc, mark string, within []string)
	walk = func(op string, at []string, s object, doc, mark string, within []string) {
		if ref, ok := s["$ref"].(string); ok {
			if !slices.Contains(within, ref) {
				walk(op, at, parsed.Components.Schemas[ref[strings.LastIndexByte(ref, '/')+1:]], doc, mark, append(slices.Clone(within), ref))
			}
			return
		}
		if own, ok := s["description"].(string); ok {
			doc = own
		}
		if own, ok := s["x-secret"].(string); ok {
			mark = own
		}
		typed, _ := s["type"].(string)
		if list, ok := s["type"].([]any); ok {
			typed, _ = list[0].(string)
		}
		for _, choices := range []string{"anyOf", "oneOf"} {
			list, _ := s[choices].([]any)
			for _, choice := range list {
				walk(op, at, choice.(object), doc, mark, within)
				typed = choices
			}
		}
		below := func(name string) []string { return append(slices.Clone(at), name) }
		members, _ := s["properties"].(object)
		for name, m := range members {
			walk(op, below(name), m.(object), "", "", within)
		}
		if others, ok := s["additionalProperties"].(object); ok {
			walk(op, below("*"), others, doc, mark, within)
		}
		if items, ok := s["items"].(object); ok {
			walk(op, below("[]"), items, doc, mark, within)
		}
		if typed == "string" && s["enum"] == nil || typed == "" {
			all[op] = append(all[op], requestMember{strings.Join(at, "."), doc, mark})
		}
	}
	for path, op := range parsed.Paths {
		walk(path, nil, op.Post.RequestBody.Content["application/json"].Schema, "", "", nil)
	}
	return all
}

// smells matches the names of members that may hold a secret, and smellsSo their descriptions.
var (
	smells = regexp.MustCompile(`(?i)secret|token|passw|pwd|passphrase|credential|auth|p256dh|endpoint|webhook|dsn|header|cookie|private|` +
		`(^|_)key|url|uri|address|contact|settings|app$|code|param|signature|link|^body$|options|payload|certificate|tls_`)
	smellsSo = regexp.MustCompile(`(?i)\bsecrets?\b|token|password|credential|webhook|private key|\burls?\b|address`)
)

// open are the members that smell of a secret and hold none, by the end of their path, with the reason.
var open = map[string]string{
	"key":               "the name of a field in a condition",
	"alert_key":         "what events of an alert have in common",
	"alert_keys.[]":     "the same",
	"key_name":          "what people call an app key",
	"i_keys.[]":         "names of fields",
	"country_code":      "of a telephone number",
	"countryCode":       "the same",
	"email":             "a mail address is personal and no credential: nothing can be read or changed with it",
	"emails.[]":         "the same",
	"member_name":       "a person's name",
	"avatar":            "a public picture",
	"feed_id":           "names a feed's address, and opens nothing",
	"url_name":          "a public part of a status page's URL",
	"linked_changes.[]": "identifiers",
	"event_type":        "the name of an event",
	"options.[]":        "what people choose from",
	"slack_app":         "a template", "feishu_app": "a template", "dingtalk_app": "a template", "wecom_app": "a template", "teams_app": "a template",
	"slack":                   "a template",
	"settings.body":           "a template; what signs a request in belongs into its headers",
	"settings.event_types.[]": "names of events",
	"tls_ca":                  "public certificates",
	"tls_cert":                "a public certificate",
	"tls_server_name":         "the name of a host",
	"tls_mode":                "a choice",
	"tls_min_version":         "a version",
	"tls_max_version":         "a version",
	"certificate_fingerprint": "the hash of a public certificate",
	"basic_auth_username":     "a name; its password has a member of its own",
	"access_key_id":           "the public half of a key",
	"oracle.options.*":        "options of a connection; the sender chooses the names, by which credentials are hidden",
	"address":                 "of a datasource: credentials in it are refused",
	"tracing.endpoint":        "the address of a page for people",
	"the service.endpoint":    "the same",
	"frames.[].file":          "the address of a script",
	"url":                     "the address of a page",
	"query":                   "words that people look for",
	"instance_key":            "the hash of a label set",
}

// TestEverySecretOfRequestIsMarked walks the requests of all operations: a member whose name or description smells of a
// secret has the tag secret, or stands in the table of the members that hold none.
func TestEverySecretOfRequestIsMarked(t *testing.T) {
	t.Parallel()
	a, _, _, _ := start(t)
	used := map[string]bool{}
	for op, members := range requestMembers(t, a.Frame) {
		for _, m := range members {
			names := slices.DeleteFunc(strings.Split(m.path, "."), func(s string) bool { return s == "*" || s == "[]" })
			if m.mark != "" || len(names) == 0 || !smells.MatchString(names[len(names)-1]) && !smellsSo.MatchString(m.doc) {
				continue
			}
			known := false
			for end := range open {
				if m.path == end || strings.HasSuffix(m.path, "."+end) {
					known, used[end] = true, true
				}
			}
			if !known {
				t.Errorf("%s: %s may hold a secret (%q): give it the tag secret, or list it with the reason why it holds none", op, m.path, m.doc)
			}
		}
	}
	for _, end := range slices.Sorted(maps.Keys(open)) {
		if !used[end] {
			t.Errorf("no member that smells of a secret ends in %s: remove it from the table", end)
		}
	}
}
