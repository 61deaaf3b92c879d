package api_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
)

// warnedReply is the reply of a write that has warnings of its own.
type warnedReply struct {
	Name string `json:"name" doc:"What it is called."`
	api.Warnings
}

func writes() []api.Op {
	return []api.Op{
		{Path: "/toy/keep", Effect: api.Write, Audit: "toy:write:keep", Doc: "Keeps a toy.", Example: minimal,
			Do: api.Do(func(c *api.Call, in Toys) (Toys, error) { c.Touched("toy", 1, in.Name); return in, nil })},
		{Path: "/toy/doubt", Effect: api.Write, Audit: "toy:write:doubt", Doc: "Doubts a toy.", Example: `{"name":"ball"}`,
			Do: api.Do(func(c *api.Call, in newToy) (warnedReply, error) {
				c.Touched("toy", 1, in.Name)
				c.Warn("name: said while it was stored")
				return warnedReply{in.Name, api.Warn([]string{"name: of the operation"})}, nil
			})},
		{Path: "/toy/forget", Effect: api.Write, Audit: "toy:write:forget", Doc: "Forgets toys.", Example: `{}`,
			Do: api.Do(func(c *api.Call, in nothing) (api.Empty, error) { c.Touched("toy", 1, ""); return api.Empty{}, nil })},
	}
}

// A member that no schema has is accepted by every operation, and named by writes with the member that was probably meant.
func TestWritesNameUnknownMembers(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toys(), writes())
	many := make([]string, 70)
	for i := range many {
		many[i] = fmt.Sprintf(`"zz%02d":1`, i)
	}
	listed := make([]string, 51)
	for i := range 50 {
		listed[i] = fmt.Sprintf(`"zz%02d: is not known here and is ignored"`, i)
	}
	listed[50] = `"and 20 more"`
	s.Converse(t, []apitest.Turn{
		{Path: echo, Body: with(`"nam":"b"`), Data: minimal}, // a read has no warnings
		{Path: "/toy/keep", Body: minimal, Data: minimal},
		{Path: "/toy/keep", Body: with(`"smal":7,"zebra":{"a":1},"Ratio":0.1,"colours":null`),
			Data: with(`"warnings":["Ratio: is not known here and is ignored; did you mean ratio?","smal: is not known here and is ignored; did you mean small?","zebra: is not known here and is ignored"]`)},
		{Path: "/toy/keep", Body: with(`"parts":[{"weight":1,"inner":{"weight":2,"lable":"x"}}]`),
			Data: with(`"parts":[{"weight":1,"inner":{"weight":2}}],"warnings":["parts[0].inner.lable: is not known here and is ignored; did you mean label?"]`)},
		{Path: "/toy/keep", Body: with(`"labels":{"any":"x"},"free":{"any":1},"bag":{"size":1,"other":{"x":1}}`),
			Data: with(`"labels":{"any":"x"},"free":{"any":1},"bag":{"size":1,"note":null,"other":{"x":1}}`)},
		{Path: "/toy/doubt", Body: `{"name":"ball","pasword":"hunter2"}`,
			Data: `{"name":"ball","warnings":["name: of the operation","pasword: is not known here and is ignored; did you mean password?","name: said while it was stored"]}`},
		{Path: "/toy/forget", Body: `{}`, Data: `{}`},
		{Path: "/toy/forget", Body: `{"toy_id":1}`, Data: `{"warnings":["toy_id: is not known here and is ignored"]}`},
		{Path: "/toy/forget", Body: `{` + strings.Join(many, ",") + `}`, Data: `{"warnings":[` + strings.Join(listed, ",") + `]}`},
		{Path: "/toy/keep", Body: with(`"big":"x","smal":7`), Code: "InvalidParameter", Says: []string{"parameter big"}},
	})
}

// A list without its filter returns everything. So it names the members that it does not know.
func TestListsNameUnknownMembers(t *testing.T) {
	t.Parallel()
	listed := func(path string, out func(*api.Call, nothing) (api.Items[toy], error)) api.Op {
		return api.Op{Path: path, Effect: api.Read, Doc: "Lists toys.", Example: `{}`, Do: api.Do(out)}
	}
	empty := func(c *api.Call, in nothing) (api.Items[toy], error) { return api.Items[toy]{Items: []toy{}}, nil }
	s := apitest.Start(t, []api.Op{listed("/toy/box/list", empty), listed("/toy/list-by-ids", empty), listed("/toy/listing/info", empty),
		{Path: "/toy/bare/list", Effect: api.Read, Doc: "Lists toys.", Example: `{}`, Do: api.Do(func(c *api.Call, in nothing) ([]toy, error) { return []toy{}, nil })}})
	const warned = `{"items":[],"warnings":["titel: is not known here and is ignored"]}`
	s.Converse(t, []apitest.Turn{
		{Path: "/toy/box/list", Body: `{}`, Data: `{"items":[]}`},
		{Path: "/toy/box/list", Body: `{"titel":"x"}`, Data: warned},
		{Path: "/toy/list-by-ids", Body: `{"titel":"x"}`, Data: warned},
		{Path: "/toy/listing/info", Body: `{"titel":"x"}`, Data: `{"items":[]}`},
		{Path: "/toy/bare/list", Body: `{}`, Data: `[]`},
	})
	r := s.Call(apitest.KeyA, "/toy/bare/list", `{"titel":"x"}`)
	if !strings.HasSuffix(string(r.Body), `,"data":[],"warnings":["titel: is not known here and is ignored"]}`) {
		t.Errorf("a list without members: %s", r.Body)
	}
}

// A reply with warnings that the frame cannot add its own to would have two members of that name.
func TestReplyWithOwnWarningsIsRefused(t *testing.T) {
	t.Parallel()
	type own struct {
		Warnings []string `json:"warnings,omitzero" doc:"Its own."`
	}
	for name, do := range map[string]api.Func{
		"own":    api.Do(func(c *api.Call, in nothing) (own, error) { return own{}, nil }),
		"shared": api.Do(func(c *api.Call, in nothing) (warnedReply, error) { return warnedReply{}, nil }),
	} {
		s := apitest.Start(t, []api.Op{{Path: "/toy/warn", Effect: api.Write, Audit: "toy:write:warn", Doc: "Warns.", Example: `{}`, Do: do}})
		func() {
			defer func() {
				if refused := recover() != nil; refused != (name == "own") {
					t.Errorf("%s: refused is %t", name, refused)
				}
			}()
			if _, err := s.Frame.OpenAPI(); err != nil {
				t.Error(err)
			}
		}()
	}
}

// BenchmarkWrite compares a write whose members are all known with one that needs a warning.
func BenchmarkWrite(b *testing.B) {
	for name, body := range map[string]string{"known": with(`"big":7`), "unknown": with(`"bgi":7`)} {
		b.Run(name, func(b *testing.B) {
			s := apitest.Start(b, writes())
			for b.Loop() {
				s.Call(apitest.KeyA, "/toy/keep", body)
			}
		})
	}
}
