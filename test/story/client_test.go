package story

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Every operation that creates configuration has its resource in the table.
func TestEveryResourceIsDeclared(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	known := map[string]bool{}
	for _, r := range resources {
		known[r.create] = true
	}
	for path := range c.paths {
		creates := strings.HasSuffix(path, "/create") || strings.HasSuffix(path, "/upsert") || path == "/member/invite"
		if creates && !known[path] && unmanaged[path] == "" {
			t.Errorf("%s has no resource in the table", path)
		}
		delete(known, path)
	}
	for path := range known {
		t.Errorf("%s of the table does not exist", path)
	}
}

// The bodies of the table have every member that the schema of the request has.
func TestResourcesHaveEveryMember(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	written, schemas := map[string]bool{}, map[string]map[string]any{}
	for _, r := range resources {
		c.ids[r.name] = "1"
		schemas[r.create] = c.request(r.create)
		members(r.create, c.document(r.body, "1"), func(at string) { written[at] = true })
	}
	for path, schema := range schemas {
		c.described(path, schema, map[string]bool{}, func(at string) {
			if parent := at[:strings.LastIndex(at, ".")]; !written[at] && unwritten[at] == "" && (parent == path || written[parent]) {
				t.Errorf("no body of the table has %s", at)
			}
		})
	}
}

// A client creates every resource, reads what it wrote, changes it, repeats the change without effect, reads it by id
// alone, and deletes everything in reverse order. What is gone is a failure that clients know, or null.
func TestClientDeclaresEveryResource(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for _, r := range resources {
		body := c.document(r.body, "")
		id := c.create(r, body)
		c.ids[r.name] = id
		c.compare(r, "created", body, c.read(r, id))
		change := c.changed(r, body, id, c.document(r.change, ""))
		c.update(r, change)
		before := c.read(r, id)
		c.compare(r, "changed", change, before)
		c.update(r, change)
		c.same(r, "applied again", before, c.read(r, id))
		back := c.changed(r, body, id, map[string]any{})
		c.update(r, back) // so that what comes later refers to it as it was made
		c.compare(r, "changed back", back, c.read(r, id))
	}
	for _, r := range slices.Backward(resources) {
		if r.delete != "" {
			c.remove(r, c.ids[r.name])
		}
	}
}

// A client may leave out what is optional, and send false, zero and empty values. What is accepted is read back; what is
// refused is refused by the name of the member.
func TestClientDeclaresVariants(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for _, r := range resources {
		c.ids[r.name] = c.create(r, c.document(r.body, ""))
	}
	for _, r := range resources {
		t.Run(r.name, func(t *testing.T) {
			c.w.t = t
			tried := 0
			for _, v := range c.variants(r) {
				tried += c.try(r, v)
			}
			if tried == 0 {
				t.Error("no variant is accepted")
			}
		})
	}
	for path := range exceptions {
		if !c.used[path] {
			t.Errorf("%s is read back as it is written, and needs no exception", path)
		}
	}
}

// variant is a change of one member of a body, or of all optional ones.
type variant struct {
	path   string // such as layers.0.max_times
	words  string
	change func(body map[string]any)
}

// variants returns the body with its required members alone, and with each member false, zero or empty.
func (c *client) variants(r resource) (all []variant) {
	required := c.request(r.create)["required"]
	all = append(all, variant{"", "only what is required", func(body map[string]any) {
		for name := range body {
			if list, _ := required.([]any); !slices.Contains(list, any(name)) && r.inside == "" {
				delete(body, name)
			}
		}
	}})
	walk("", c.document(r.body, ""), func(path string, value any) {
		var none any
		switch value.(type) {
		case bool:
			none = false
		case float64:
			none = 0.
		case string:
			none = ""
		case []any:
			none = []any{}
		default:
			none = map[string]any{}
		}
		if !slices.Contains(unsetIfEmpty, r.name+" "+path) {
			all = append(all, variant{path, fmt.Sprintf("%s is %v", path, none), func(body map[string]any) { put(body, path, none) }})
		}
		if path != "" {
			all = append(all, variant{path, path + " is absent", func(body map[string]any) { put(body, path, nil) }})
		}
	})
	return all
}

// try creates an object in a variant, applies the variant again and deletes it. It returns 1 if the variant is accepted.
func (c *client) try(r resource, v variant) int {
	c.w.t.Helper()
	body := c.document(r.body, "")
	v.change(body)
	reply := c.call(r.create, body)
	if reply.Error != nil {
		last := v.path[strings.LastIndex(v.path, ".")+1:]
		parts := strings.Split(v.path, ".")
		named := slices.ContainsFunc(append(parts, last), func(part string) bool { return part > "9" && strings.Contains(reply.Error.Message, part) })
		if !named && v.path != "" || reply.Status >= 500 {
			c.w.t.Errorf("%s: %s", v.words, reply)
		}
		return 0
	}
	id := c.ids[r.name]
	if r.id != "" {
		id = quoted(reply.get(r.id))
	}
	r.name += " with " + v.words
	first := c.read(r, id)
	c.compare(r, "created", body, first)
	c.update(r, c.changed(r, body, id, map[string]any{}))
	c.same(r, "applied again", first, c.read(r, id))
	if r.delete != "" {
		c.remove(r, id)
	}
	kind, _, _ := strings.Cut(r.name, " with ")
	id = c.ids[kind]
	sent := c.update(r, c.changed(r, body, id, map[string]any{}))
	c.compare(r, "changed to it", sent, c.read(r, id))
	c.update(r, c.changed(r, c.document(r.body, ""), id, map[string]any{}))
	return 1
}
