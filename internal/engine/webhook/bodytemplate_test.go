package webhook

import (
	"encoding/json"
	"strings"
	"testing"
)

const filling = `{"event_time":1776052800000,"event_type":"i_new","incident":{"title":"a \"b\"\n","num":"07","alert_cnt":3,"big":12345678901234567890,"ever_muted":false,
	"owner":null,"labels":{"env":"prod","k8s.pod":"web-1","k8s":{"node":"n1"},"é":"<é>"},"responders":[{"person_name":"Ann"},{"person_name":"Bob","ids":[1,2]}]}}`

func TestFill(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		``:                          ``,
		`{"a":1}`:                   `{"a":1}`,
		`{"a":"{{event_type}}"}`:    `{"a":"i_new"}`,
		`{"a":"{{ event_type }}"}`:  `{"a":"i_new"}`,
		`{"a":"{{event_time}}"}`:    `{"a":1776052800000}`,
		`{"a":"at {{event_time}}"}`: `{"a":"at 1776052800000"}`,
		`{"a":{{event_time}}}`:      `{"a":1776052800000}`,
		`{"a":{{event_type}}}`:      `{"a":"i_new"}`,
		`{"a":"{{incident.big}}"}`:  `{"a":12345678901234567890}`,

		`{"a":"{{incident.ever_muted}}","b":"{{incident.owner}}"}`:                      `{"a":false,"b":null}`,
		`{"a":"{{incident.title}}","b":"x {{incident.title}}"}`:                         `{"a":"a \"b\"\n","b":"x a \"b\"\n"}`,
		`{"a":"{{incident.labels}}"}`:                                                   `{"a":{"env":"prod","k8s":{"node":"n1"},"k8s.pod":"web-1","é":"<é>"}}`,
		`{"a":"= {{incident.responders.1.ids}}"}`:                                       `{"a":"= [1,2]"}`,
		`["{{incident.responders.0.person_name}}","{{incident.responders.1.ids.1}}"]`:   `["Ann",2]`,
		`["{{incident.labels.k8s.pod}}","{{incident.labels.k8s.node}}"]`:                `["web-1","n1"]`,
		`{"{{incident.alert_cnt}}":1,"{{event_type}}" : 2}`:                             `{"3":1,"i_new" : 2}`,
		`{"a":"\"{{event_type}}\"","b":"\\","c":"{{event_type}}"}`:                      `{"a":"\"i_new\"","b":"\\","c":"i_new"}`,
		`{"a":"{{nothing}} {{incident.responders.2}} {{incident.responders.-1}} {{}}"}`: `{"a":"{{nothing}} {{incident.responders.2}} {{incident.responders.-1}} {{}}"}`,
		`{"a":"{{nothing}}","b":"{{event_type.x}}","c":"{{incident.num}}"}`:             `{"a":"{{nothing}}","b":"{{event_type.x}}","c":"07"}`,
		`{"a":"{{event_type"}`: `{"a":"{{event_type"}`,

		`{{incident.responders.0}}`: `{"person_name":"Ann"}`,
		` {{event_type}} `:          ` "i_new" `,
		`{{event_type}} "{{incident.title}}": {{incident.alert_cnt}} {{incident.responders.1.ids}}`: "i_new \"a \"b\"\n\": 3 [1,2]",
		`text={{incident.labels.é}}`: `text=<é>`,
	} {
		if got, ok := fill(body, []byte(filling), 1000); string(got) != want || !ok {
			t.Errorf("%s\n gives %s\n want  %s", body, got, want)
		}
	}
	if got, ok := fill(strings.Repeat("{{incident}}", 10), []byte(filling), 1000); ok {
		t.Errorf("%d bytes", len(got))
	}
	if _, ok := fill("x", []byte("{"), 1000); ok {
		t.Error("a payload that is not JSON")
	}
}

// FuzzFill: whatever the body, JSON stays JSON, and a body without variables stays as it is.
func FuzzFill(f *testing.F) {
	for _, s := range []string{`{"a":"{{incident.title}} x","{{event_time}}":["{{incident}}"]}`, `{{incident.labels.k8s.pod}}`, `"\\{{event_type}}\""`, `{"a":"{{a"}}`, "{{event_type}} \xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, ok := fill(body, []byte(filling), 1<<20)
		if !ok && len(body) < 1000 {
			t.Fatalf("%q is too long", body)
		}
		if ok && json.Valid([]byte(body)) && !json.Valid(got) {
			t.Fatalf("%q gives %q", body, got)
		}
		if ok && !strings.Contains(body, "{{") && string(got) != body {
			t.Fatalf("%q gives %q", body, got)
		}
	})
}
