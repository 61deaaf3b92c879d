package zabbix_test

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"tocsin/internal/core/event"
	"tocsin/internal/source/sourcetest"
	"tocsin/internal/source/zabbix"
)

func TestPayloads(t *testing.T) { sourcetest.Golden(t, zabbix.Parse) }

func FuzzParse(f *testing.F) { sourcetest.Fuzz(f, zabbix.Parse) }

func TestDisturbed(t *testing.T) { sourcetest.Disturbed(t, zabbix.Parse) }

func TestInvalidBodiesAreRefused(t *testing.T) {
	sourcetest.Refuses(t, zabbix.Parse, map[string]string{
		`{}`: "event_name: is required", `{"event_name": "{EVENT.NAME}"}`: "event_name: is required", `{"event_name": "x"}`: "event_status: must be PROBLEM or RESOLVED",
		`{"event_name": "x", "event_status": "Odd", "event_value": 2}`: `got "Odd" and "2"`, `[]`: "must not be a list", `x`: "it is no JSON",
	})
}

func TestSeverities(t *testing.T) {
	for member, want := range map[string]string{
		`"severity": "Disaster"`: event.Critical, `"event_severity": "High"`: event.Critical, `"trigger_severity": "Average"`: event.Warning, `"severity": "Warning"`: event.Warning,
		`"severity": "Information"`: event.Info, `"severity": "Not classified"`: event.Info, `"nseverity": "5"`: event.Critical, `"nseverity": 4`: event.Critical, `"nseverity": "3"`: event.Warning,
		`"nseverity": 2`: event.Warning, `"nseverity": 1`: event.Info, `"nseverity": "0"`: event.Info, `"severity": "4"`: event.Critical,
		`"severity": "Disaster", "nseverity": 1`: event.Info, `"severity": "High", "nseverity": "{EVENT.NSEVERITY}"`: event.Critical, `"severity": "Renamed"`: event.Warning, `"nseverity": 9`: event.Warning,
	} {
		if e := sourcetest.One(t, zabbix.Parse, `{"name": "x", "value": 1, `+member+`}`); e.Status != want || e.Severity != want {
			t.Errorf("%s: %s, want %s", member, e.Status, want)
		}
	}
}

func TestRecoveryStatus(t *testing.T) {
	for member, over := range map[string]bool{
		`"status": "PROBLEM"`: false, `"event_status": "RESOLVED"`: true, `"trigger_status": "OK"`: true, `"value": "1"`: false, `"value": 0`: true, `"EVENT.VALUE": "0"`: true,
		`"event_status": "{EVENT.STATUS}", "event_value": "1"`: false, `"status": "PROBLEM", "value": 0`: false, `"status": "odd", "value": "0"`: true,
	} {
		if e := sourcetest.One(t, zabbix.Parse, `{"name": "x", "severity": "High", `+member+`}`); (e.Status == event.Ok) != over || e.Severity != event.Critical {
			t.Errorf("%s: %s", member, e.Status)
		}
	}
}

// TestTags reads tags as the versions and media types of Zabbix write them.
func TestTags(t *testing.T) {
	want := map[string]string{"service": "shop", "scope": "a, b"}
	for _, tags := range []string{
		`{"service": "shop", "scope": "a, b"}`, `[{"tag": "service", "value": "shop"}, {"tag": "scope", "value": "a"}, {"tag": "scope", "value": "b"}]`,
		`[{"key": "service", "value": "shop"}, {"name": "scope", "value": "a, b"}, 5, {}]`, `[["service", "shop"], ["scope", "a"], ["scope", "b"]]`, `["service:shop", "scope=a", "scope:b"]`,
		`"service:shop, scope:a, scope:b"`, `"[{\"tag\":\"service\",\"value\":\"shop\"},{\"tag\":\"scope\",\"value\":\"a\"},{\"tag\":\"scope\",\"value\":\"b\"}]"`, `"{\"service\": \"shop\", \"scope\": \"a, b\"}"`,
	} {
		if e := sourcetest.One(t, zabbix.Parse, `{"name": "x", "value": 1, "tags": `+tags+`}`); !maps.Equal(e.Labels, want) {
			t.Errorf("%s: %q", tags, e.Labels)
		}
	}
	for _, tags := range []string{`"{EVENT.TAGS}"`, `""`, `null`, `5`, `[]`, `"*UNKNOWN*"`} {
		if e := sourcetest.One(t, zabbix.Parse, `{"name": "x", "value": 1, "tags": `+tags+`}`); len(e.Labels) != 0 {
			t.Errorf("%s: %q", tags, e.Labels)
		}
	}
}

// TestSpellings: media types are written by hand; the same members in other spellings result in the same event.
func TestSpellings(t *testing.T) {
	plain := sourcetest.One(t, zabbix.Parse, `{"event_name": "x", "event_nseverity": "4", "event_value": "1", "host_name": "web", "trigger_id": "7", "event_tags": "a:b"}`)
	for _, body := range []string{
		`{"EventName": "x", "EventNSeverity": 4, "EventValue": 1, "HostName": "web", "TriggerID": 7, "EventTags": {"a": "b"}}`,
		`{"EVENT.NAME": "x", "EVENT.NSEVERITY": "4", "EVENT.VALUE": "1", "HOST.NAME1": "web", "{TRIGGER.ID}": "7", "EVENT.TAGS": "a:b"}`,
		`{"event": {"name": "x", "nseverity": 4, "value": "1", "tags": ["a:b"]}, "host": {"name": "web"}, "trigger": {"id": "7"}}`,
		`{"name": "x", "nseverity": "4", "status": "PROBLEM", "host": "web", "triggerid": "7", "tags": [{"tag": "a", "value": "b"}]}`,
	} {
		e := sourcetest.One(t, zabbix.Parse, body)
		if e.Title != "web::x" || e.AlertKey != plain.AlertKey || e.Status != plain.Status || !maps.Equal(e.Labels, plain.Labels) {
			t.Errorf("%s: %+v", body, e)
		}
	}
}

// TestRecovery: a recovery has the key of its problem, and its own timestamp or the moment it came.
func TestRecovery(t *testing.T) {
	for _, member := range []string{`"trigger_id": "7", "event_id": "1"`, `"event_id": "1"`, `"host": "web"`} {
		problem := sourcetest.One(t, zabbix.Parse, `{"name": "x", "value": 1, "event_timestamp": "1776050000", `+member+`}`)
		over := sourcetest.One(t, zabbix.Parse, `{"name": "x", "value": 0, "event_timestamp": "1776050000", `+member+`}`)
		if problem.AlertKey != over.AlertKey || problem.Time != 1776050000 || over.Time != sourcetest.Came.Unix() {
			t.Errorf("%s: %+v and %+v", member, problem, over)
		}
	}
	if e := sourcetest.One(t, zabbix.Parse, `{"name": "x", "value": 0, "event_recovery_timestamp": "1776052000"}`); e.Time != 1776052000 {
		t.Errorf("%d", e.Time)
	}
}

func TestSteady(t *testing.T) {
	sourcetest.Steady(t, zabbix.Parse, `{"event_name": "a", "eventname": "b", "EVENT.NAME": "c", "event": {"name": "d", "value": 1}, "tags": "a:1", "event_tags": {"b": "2"}}`)
}

// TestMediaType reads what the media type of deploy/zabbix sends, with and without the macros of newer versions.
func TestMediaType(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/zabbix/tocsin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Export struct {
			Types []struct {
				Parameters []struct{ Name, Value string }
			} `yaml:"media_types"`
		} `yaml:"zabbix_export"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	macros := map[string]string{"{EVENT.ID}": "77", "{EVENT.NAME}": "Disk full", "{EVENT.NSEVERITY}": "4", "{EVENT.VALUE}": "0", "{HOST.NAME}": "db-1", "{HOST.IP}": "10.0.0.1",
		"{EVENT.TAGSJSON}": `[{"tag":"service","value":"shop"}]`, "{ALERT.MESSAGE}": "97 %", "{ITEM.NAME}": "Free space", "{ITEM.LASTVALUE}": "3 %", "{TRIGGER.URL}": "https://wiki.example.com/disk"}
	sent := map[string]string{}
	for _, p := range file.Export.Types[0].Parameters {
		if value, filled := macros[p.Value]; filled {
			sent[p.Name] = value
			delete(macros, p.Value)
		} else if !strings.HasPrefix(p.Name, "tocsin_") {
			sent[p.Name] = p.Value
		}
	}
	body, err := json.Marshal(sent)
	if err != nil || len(macros) > 0 {
		t.Fatal(err, macros)
	}
	e := sourcetest.One(t, zabbix.Parse, string(body))
	want := map[string]string{"host": "db-1", "host_ip": "10.0.0.1", "item": "Free space", "item_value": "3 %", "event_id": "77", "service": "shop", "url": "https://wiki.example.com/disk"}
	if e.Title != "db-1::Disk full" || e.Status != event.Ok || e.Severity != event.Critical || e.Description != "97 %" || e.Time != sourcetest.Came.Unix() || !maps.Equal(e.Labels, want) {
		t.Errorf("%+v", e)
	}
}
