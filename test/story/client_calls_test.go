package story

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// client is a client that declares configuration: it knows schemas, and the ids of what it made.
type client struct {
	w       *world
	schemas map[string]any
	paths   map[string]any
	ids     map[string]string
	n       int
	used    map[string]bool // exceptions
}

func newClient(t *testing.T) *client {
	w := begin(t)
	answer, err := http.Get(w.http.URL + "/openapi.json")
	w.must(err)
	defer answer.Body.Close()
	var document struct {
		Paths      map[string]any
		Components struct{ Schemas map[string]any }
	}
	w.must(json.NewDecoder(answer.Body).Decode(&document))
	return &client{w: w, schemas: document.Components.Schemas, paths: document.Paths, ids: map[string]string{}, used: map[string]bool{}}
}

// create creates an object and returns its id as JSON.
func (c *client) create(r resource, body map[string]any) string {
	c.w.t.Helper()
	reply := c.must(r.create, body)
	if r.id == "" {
		return ""
	}
	return quoted(reply.get(r.id))
}

// quoted returns an id as JSON: numbers as they are, texts in quotes.
func quoted(id string) string {
	if strings.Trim(id, "0123456789") == "" && len(id) < 19 {
		return id
	}
	return fmt.Sprintf("%q", id)
}

// update sends the members that the operation for changes has, and returns them.
func (c *client) update(r resource, body map[string]any) map[string]any {
	c.w.t.Helper()
	path := r.update
	if path == "" {
		path = r.create
	}
	known, _ := c.request(path)["properties"].(map[string]any)
	sent := map[string]any{}
	for name, value := range body {
		if _, ok := known[name]; ok {
			sent[name] = value
		}
	}
	reply := c.call(path, sent)
	if reply.Error != nil {
		c.w.t.Errorf("%s: %s %v: %s", r.name, path, sent, reply)
	}
	return sent
}

// read reads an object by its id alone.
func (c *client) read(r resource, id string) map[string]any {
	c.w.t.Helper()
	object, _ := c.find(r, id)
	if object == nil {
		c.w.t.Fatalf("%s %s cannot be read", r.name, id)
	}
	return object
}

// find returns an object, or nil and what the reply shows instead.
func (c *client) find(r resource, id string) (map[string]any, string) {
	c.w.t.Helper()
	request := "{" + r.key + "}"
	if r.listed != "" {
		request = r.listed
	}
	reply := c.call(r.read, c.document(request, id))
	if reply.Error != nil {
		return nil, fmt.Sprint(reply.Status)
	}
	var data any
	c.w.must(json.Unmarshal(reply.Data, &data))
	if r.in == "" {
		object, _ := data.(map[string]any)
		return object, "null"
	}
	member := r.id
	if r.found != "" {
		member = r.found
	}
	list, _ := data.(map[string]any)[r.in].([]any)
	for _, item := range list {
		object := item.(map[string]any)
		if text, _ := json.Marshal(object[member]); string(text) == id {
			return object, ""
		}
	}
	return nil, "absent"
}

// remove deletes an object, and wants it gone in a way that clients know.
func (c *client) remove(r resource, id string) {
	c.w.t.Helper()
	one := c.document("{"+r.key+"}", id)
	if r.before != "" {
		c.must(r.before, one)
	}
	if r.ends != "" {
		one = c.document("{"+r.ends+"}", id)
	}
	c.must(r.delete, one)
	switch object, gone := c.find(r, id); {
	case object != nil:
		c.w.t.Errorf("%s is still there: %v", r.name, object)
	case gone != "404" && gone != "null" && gone != "absent":
		c.w.t.Errorf("%s is gone with %s", r.name, gone)
	}
}

// changed returns the body of an update: the id, what was written, and what changes.
func (c *client) changed(r resource, body map[string]any, id string, change map[string]any) map[string]any {
	all := maps.Clone(body)
	if r.inside != "" {
		all = maps.Clone(body[strings.Split(r.inside, ".")[0]].([]any)[0].(map[string]any))
	}
	maps.Copy(all, change)
	maps.Copy(all, c.document("{"+r.key+"}", id))
	return all
}

// document decodes a body whose names are replaced by ids.
func (c *client) document(text, self string) (body map[string]any) {
	c.w.t.Helper()
	c.n++
	now := c.w.clock.Now().Unix()
	pairs := []string{"$self", self, "$n", fmt.Sprint(c.n), "$soon", fmt.Sprint(now + 3600), "$later", fmt.Sprint(now + 2*86400)}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(c.ids))) { // the longest of names that begin alike comes first
		pairs = append(pairs, `"$`+name+`"`, `"`+c.ids[name]+`"`, "$"+name, c.ids[name])
	}
	text = strings.NewReplacer(pairs...).Replace(text)
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		c.w.t.Fatalf("%s: %v", text, err)
	}
	return body
}

func (c *client) call(path string, body map[string]any) reply {
	c.w.t.Helper()
	c.w.clock.Add(time.Second) // limits on calls are not what is tested
	text, err := json.Marshal(body)
	c.w.must(err)
	return c.w.post(path+"?app_key="+ownKey, string(text))
}

func (c *client) must(path string, body map[string]any) reply {
	c.w.t.Helper()
	r := c.call(path, body)
	if r.Error != nil {
		c.w.t.Fatalf("%s %v: %s", path, body, r)
	}
	return r
}

// request returns the schema of an operation's request.
func (c *client) request(path string) map[string]any {
	ref := c.paths[path]
	for _, name := range []string{"post", "requestBody", "content", "application/json", "schema", "$ref"} {
		ref, _ = ref.(map[string]any)[name]
	}
	schema, _ := c.schemas[strings.TrimPrefix(fmt.Sprint(ref), "#/components/schemas/")].(map[string]any)
	return schema
}
