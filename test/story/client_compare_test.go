package story

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// exception is what a member is read as that was written in another way, and why.
type exception struct {
	reads []any // nil in it: the member is absent or null
	why   string
}

const (
	unsetIsEmpty = "the member is absent when it is empty, and means the same"
	incomplete   = "an incomplete time of day counts as none (docs/api.md)"
	secretStays  = "a secret that is sent empty keeps its value (docs/api.md)"
	twoNames     = "enable_time and layer_start are two names of one value"
)

// exceptions are the members that are not read back as they were written. [] is any element.
var exceptions = map[string]exception{
	"app key.person_id":                                         {[]any{7000000000011.}, "0 is the caller"},
	"schedule.layers[].time_zone":                               {[]any{nil}, unsetIsEmpty},
	"calendar.timezone":                                         {[]any{"UTC", "Europe/Berlin"}, "an empty zone is the account's at creation, and no change afterwards: a calendar's days must not move"},
	"schedule.layers[].skip_cal_ids":                            {[]any{nil}, unsetIsEmpty},
	"schedule.layers[].only_cal_ids":                            {[]any{nil}, unsetIsEmpty},
	"schedule.time_zone":                                        {[]any{nil}, unsetIsEmpty},
	"schedule.layers[].enable_time":                             {[]any{1776009600.}, twoNames},
	"schedule.layers[].layer_start":                             {[]any{1776009600.}, twoNames},
	"schedule.notify.fixed_time":                                {[]any{nil}, incomplete},
	"webhook.settings.body":                                     {[]any{nil}, unsetIsEmpty},
	"webhook.settings.sign_secret":                              {[]any{nil, "s3cr3t-s3cr3t-s3cr3t"}, secretStays},
	"webhook.settings.headers.X-One":                            {[]any{"1"}, secretStays},
	"escalation rule.layers[].target.webhooks[].settings.token": {[]any{"https://chat.example.com/T1"}, secretStays},
	"page change.status":                                        {[]any{"ongoing"}, "without a start it begins now, and its schedule makes it ongoing"},
	"page change.responders":                                    {[]any{nil}, "it is read back as responder_ids"},
	"page change.linked_changes":                                {[]any{nil}, "it is read back as linked_change_ids"},
	"page change.updates[].component_changes[].component_name":  {[]any{"API"}, "replies have the name that the page has"},
	"application.allowed_origins":                               {[]any{nil}, unsetIsEmpty},
	"app.settings.war_room_enabled":                             {[]any{nil}, unsetIsEmpty},
}

// unsetIfEmpty are members that a create without them fills in, and for which an empty text counts as absent. An update with an
// empty text is refused.
var unsetIfEmpty = []string{
	"person members.0.locale", "person members.0.member_name", "page components.0.component_id",
	"page change updates.0.status", "page change updates.0.update_id",
}

// compare wants every written member to be read back.
func (c *client) compare(r resource, when string, wrote, read map[string]any) {
	c.w.t.Helper()
	if list, nested := wrote[strings.Split(r.inside, ".")[0]].([]any); nested && r.inside != "" {
		wrote = list[0].(map[string]any)
	}
	kind, _, _ := strings.Cut(r.name, " with ")
	for _, difference := range c.differences(kind, wrote, read) {
		c.w.t.Errorf("%s, %s: %s", r.name, when, difference)
	}
}

// differences returns the written members that were read back as something else, without exceptions.
func (c *client) differences(at string, wrote, read any) (list []string) {
	if slices.ContainsFunc(exceptions[at].reads, func(v any) bool { return reflect.DeepEqual(v, read) }) {
		c.used[at] = c.used[at] || !reflect.DeepEqual(wrote, read)
		return nil
	}
	switch wrote := wrote.(type) {
	case map[string]any:
		object, ok := read.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s was written as %v and read as %v", at, wrote, read)}
		}
		for _, name := range slices.Sorted(maps.Keys(wrote)) {
			list = append(list, c.differences(at+"."+name, wrote[name], object[name])...)
		}
		return list
	case []any:
		elements, ok := read.([]any)
		if !ok || len(elements) != len(wrote) {
			return []string{fmt.Sprintf("%s was written as %v and read as %v", at, wrote, read)}
		}
		for i := range wrote {
			list = append(list, c.differences(at+"[]", wrote[i], elements[i])...)
		}
		return list
	}
	if !reflect.DeepEqual(wrote, read) {
		return []string{fmt.Sprintf("%s was written as %#v and read as %#v", at, wrote, read)}
	}
	return nil
}

// same wants two readings of an object to differ in nothing but when and by whom it was changed, and the version.
func (c *client) same(r resource, when string, first, second map[string]any) {
	c.w.t.Helper()
	a, b := stamped(first).(map[string]any), stamped(second).(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if !reflect.DeepEqual(a[name], b[name]) {
			c.w.t.Errorf("%s, %s: %s %v became %v", r.name, when, name, a[name], b[name])
		}
	}
	if len(a) > len(b) {
		c.w.t.Errorf("%s, %s: %d members became %d", r.name, when, len(a), len(b))
	}
}

// stamped returns a document without what every write changes.
func stamped(v any) any {
	switch v := v.(type) {
	case map[string]any:
		rest := map[string]any{}
		for name, value := range v {
			if !slices.Contains([]string{"updated_at", "update_at", "updated_by", "update_by", "updated_by_name", "version", "revision", "create_at"}, name) {
				rest[name] = stamped(value)
			}
		}
		return rest
	case []any:
		rest := make([]any, len(v))
		for i := range v {
			rest[i] = stamped(v[i])
		}
		return rest
	}
	return v
}

// walk calls fn with every member below v that is no list or object of objects alone, by its path.
func walk(at string, v any, fn func(path string, value any)) {
	if at != "" {
		fn(at, v)
		at += "."
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walk(at+name, v[name], fn)
		}
	case []any:
		for i, element := range v {
			if _, object := element.(map[string]any); object {
				walkMembers(fmt.Sprint(at, i), element.(map[string]any), fn)
			}
		}
	}
}

// walkMembers is walk for an element of a list, which is not replaced itself.
func walkMembers(at string, v map[string]any, fn func(path string, value any)) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		walk(at+"."+name, v[name], fn)
	}
}

// put sets the member of a document at a path; nil removes it.
func put(v any, path string, value any) {
	name, rest, deeper := strings.Cut(path, ".")
	switch v := v.(type) {
	case map[string]any:
		switch {
		case deeper:
			put(v[name], rest, value)
		case value == nil:
			delete(v, name)
		default:
			v[name] = value
		}
	case []any:
		n := 0
		fmt.Sscan(name, &n)
		put(v[n], rest, value)
	}
}

// members calls fn with the path of every member of a document; the elements of lists share a path.
func members(at string, v any, fn func(at string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			fn(at + "." + name)
			members(at+"."+name, value, fn)
		}
	case []any:
		for _, element := range v {
			members(at, element, fn)
		}
	}
}

// described calls fn with the path of every member that a schema describes.
func (c *client) described(at string, schema map[string]any, open map[string]bool, fn func(at string)) {
	for _, choice := range []string{"anyOf", "oneOf"} {
		if list, ok := schema[choice].([]any); ok {
			c.described(at, list[0].(map[string]any), open, fn)
		}
	}
	if ref, ok := schema["$ref"].(string); ok && !open[ref] {
		open[ref] = true
		c.described(at, c.schemas[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any), open, fn)
		delete(open, ref)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		c.described(at, items, open, fn)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, of := range properties {
		fn(at + "." + name)
		c.described(at+"."+name, of.(map[string]any), open, fn)
	}
}
