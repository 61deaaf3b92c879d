package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/auth"
)

// manner is how an operation answers a caller without the permission.
type manner uint8

const (
	change manner = iota // is refused, as the row of the table requires
	create               // creates an object that is not in anything yet: only callers without the permission are refused
	look                 // is refused for callers who may not read the object
	list                 // leaves the object out for callers who may not read it: the reply has no $mark
)

// try is an operation on an object of some kind.
type try struct {
	manner
	path, body string
	ends       string // the error code for callers who may; empty: it succeeds
}

// step creates something that an object needs, as the object's creator; it keeps a member of the reply under a name.
type step struct{ path, body, member, name string }

// kind is a kind of object in the table of docs/api.md, "Data permission": the prefixes of its operations, how its
// creator creates one, and each operation on it. In bodies $mark is a text that the object holds, $id its identifier,
// $team a team, $private and $public channels of it, and other names are those that steps keep.
type kind struct {
	prefixes []string
	steps    []step
	seed     func(world, map[string]string) // writes what no operation creates; nil: nothing
	tries    []try
	after    step // called by the owner at the end
	silent   bool // the audit log has nothing of it
}

// world is the running program with a person for each column of the table.
type world struct {
	client
	account int64
	keys    [5]string // owner, creator, member of the team, other with Manage, other with Read only
	names   map[string]string
	app     *app.App
	marks   *int
}

// made creates an object of a kind, and returns the values of the names in bodies.
func (w world) made(k kind) map[string]string {
	w.t.Helper()
	*w.marks++
	names := map[string]string{"mark": fmt.Sprintf("mark%06d", *w.marks)}
	for name, value := range w.names {
		names[name] = value
	}
	for _, s := range k.steps {
		value := w.must(w.keys[1], s.path, fill(s.body, names), s.member)
		if s.name != "" {
			names[s.name] = value
		}
	}
	if k.seed != nil {
		k.seed(w, names)
	}
	return names
}

func fill(body string, names map[string]string) string {
	return os.Expand(body, func(name string) string { return names[name] })
}

// TestDataPermissionIsAsDocumented calls every operation on every kind of object in each column of the table in
// docs/api.md.
func TestDataPermissionIsAsDocumented(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	table := rows(t)
	for name := range table {
		if _, tried := kinds[name]; !tried {
			t.Errorf("the table has a row %q that is not tried", name)
		}
	}
	for name, alike := range kinds {
		if table[name] == nil {
			t.Errorf("the table has no row %q", name)
			continue
		}
		for _, k := range alike {
			t.Run(name, func(t *testing.T) {
				w := w
				w.t = t
				w.check(k, table[name])
			})
		}
	}
}

// check calls the operations on one kind of object.
func (w world) check(k kind, cells []string) {
	tries := k.tries
	if !k.silent {
		now := time.Now().Unix()
		tries = append([]try{{manner: list, path: "/audit/search", body: fmt.Sprintf(`{"start_time":%d,"end_time":%d,"limit":99}`, now-60, now+3600)}}, tries...)
	}
	object, changed := w.made(k), false
	for _, c := range tries {
		for column, key := range w.keys {
			may := cells[column] == "yes"
			switch {
			case c.manner == create:
				may = column < 4
			case c.manner != change && column == 4:
				may = cells[3] == "yes" // a person with Read only may read what all persons may read
			}
			if changed {
				object = w.made(k)
			}
			raw, code := w.call(key, c.path, fill(c.body, object))
			changed = code == "" && (c.manner == change || c.manner == create)
			seen := strings.Contains(raw, object["mark"])
			switch {
			case c.manner == list && (code != "" || seen != may):
				w.t.Errorf("column %d: %s answers %q, shows the object: %t, want %t", column+1, c.path, code, seen, may)
			case c.manner != list && may && code != c.ends, c.manner != list && !may && code != "AccessDenied":
				w.t.Errorf("column %d: the table says %t, %s %s answers %q %s", column+1, may, c.path, c.body, code, raw)
			}
			if !may && seen && c.manner != list && !strings.Contains(fill(c.body, object), object["mark"]) {
				w.t.Errorf("column %d: the refusal of %s shows the object: %s", column+1, c.path, raw)
			}
		}
	}
	if k.after.path != "" {
		w.call(w.keys[0], k.after.path, fill(k.after.body, object))
	}
}

// TestEveryOperationOnKindIsTried fails for a new operation that has no test on its kind of object, or has no known
// kind.
func TestEveryOperationOnKindIsTried(t *testing.T) {
	t.Parallel()
	a, _, _, _ := start(t)
	var reasons []string
	for _, paths := range exempt {
		reasons = append(reasons, paths...)
	}
	known := map[string]bool{}
	for _, op := range a.Frame.Ops() {
		known[op.Path] = true
		longest, mine := "", map[string]kind{}
		for name, alike := range kinds {
			for i, k := range alike {
				for _, prefix := range k.prefixes {
					if len(prefix) > len(longest) && strings.HasPrefix(op.Path, prefix) {
						longest, mine = prefix, map[string]kind{}
					}
					if prefix == longest && longest != "" {
						mine[fmt.Sprint(name, " ", i)] = k
					}
				}
			}
		}
		if slices.Contains(reasons, op.Path) {
			continue
		}
		if len(mine) == 0 {
			t.Errorf("%s is on no kind of object that data_permission_kinds_test.go knows, and has no reason to be exempt", op.Path)
		}
		for name, k := range mine {
			if !slices.ContainsFunc(k.tries, func(c try) bool { return c.path == op.Path }) {
				t.Errorf("%s is not tried on a %s", op.Path, name)
			}
		}
	}
	for _, path := range reasons {
		if !known[path] {
			t.Errorf("%s is exempt and not mounted", path)
		}
	}
}

func newWorld(t *testing.T) world {
	t.Helper()
	a, url, owner, _ := start(t)
	s := client{t, url}
	var account int64
	if _, err := fmt.Sscan(s.must(owner, "/account/info", `{}`, "account_id"), &account); err != nil {
		t.Fatal(err)
	}
	_, creator := s.person(owner, "creator", "manage")
	memberID, member := s.person(owner, "member", "manage")
	_, other := s.person(owner, "other", "manage")
	_, reader := s.person(owner, "reader", "read")
	team := s.must(owner, "/team/upsert", `{"team_name":"T","person_ids":[`+memberID+`]}`, "team_id")
	private := s.must(creator, "/channel/create", `{"channel_name":"p","team_id":`+team+`,"is_private":true}`, "channel_id")
	public := s.must(creator, "/channel/create", `{"channel_name":"q","team_id":`+team+`}`, "channel_id")
	s.must(owner, "/field/create", `{"field_name":"region","display_name":"X","field_type":"text","value_type":"string"}`, "field_id")
	return world{client: s, account: account, keys: [5]string{owner, creator, member, other, reader}, marks: new(int),
		names: map[string]string{"team": team, "private": private, "public": public, "person": memberID}, app: a}
}

// client calls the assembled program.
type client struct {
	t   *testing.T
	url string
}

// call returns the whole reply and the code of its error.
func (s client) call(key, path, body string) (raw, code string) {
	s.t.Helper()
	response, err := http.Post(s.url+path+"?app_key="+key, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/csv") {
		return string(all), ""
	}
	var reply struct{ Error struct{ Code string } }
	if err := json.Unmarshal(all, &reply); err != nil {
		s.t.Fatalf("%s: %v in %s", path, err, all)
	}
	return string(all), reply.Error.Code
}

// data returns the reply's data and the code of its error.
func (s client) data(key, path, body string) (data map[string]any, code string) {
	s.t.Helper()
	raw, code := s.call(key, path, body)
	return dataOf(s.t, raw), code
}

func dataOf(t *testing.T, raw string) map[string]any {
	t.Helper()
	var reply struct{ Data map[string]any }
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&reply); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return reply.Data
}

// must returns a member of the data of a call that must succeed.
func (s client) must(key, path, body, member string) string {
	s.t.Helper()
	raw, code := s.call(key, path, body)
	if code != "" {
		s.t.Fatalf("%s %s: %s", path, body, raw)
	}
	return fmt.Sprint(dataOf(s.t, raw)[member])
}

// person invites a person with all permissions of a type, and returns their id and key.
func (s client) person(owner, name, permissions string) (id, key string) {
	s.t.Helper()
	var ids []string
	for p := range auth.Permission(len(auth.Names(auth.All))) {
		if p.Type() == permissions {
			ids = append(ids, fmt.Sprint(p.ID()))
		}
	}
	role := s.must(owner, "/role/upsert", `{"role_name":"`+name+`","permission_ids":[`+strings.Join(ids, ",")+`]}`, "role_id")
	data, code := s.data(owner, "/member/invite", `{"members":[{"member_name":"`+name+`","email":"`+name+`@example.com","role_ids":[`+role+`]}]}`)
	if code != "" {
		s.t.Fatal(code)
	}
	id = fmt.Sprint(data["items"].([]any)[0].(map[string]any)["member_id"])
	return id, s.must(owner, "/person/app-key/create", `{"key_name":"k","person_id":`+id+`}`, "key")
}

// rows reads the table whose last five columns are yes or no.
func rows(t *testing.T) map[string][]string {
	t.Helper()
	document, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(document), "\n### Data permission\n")
	section, _, _ = strings.Cut(section, "\n### ")
	table := map[string][]string{}
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) == 6 && (cells[1] == "yes" || cells[1] == "no") {
			table[cells[0]] = cells[1:]
		}
	}
	return table
}
