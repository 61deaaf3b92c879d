package schedule_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"tocsin/internal/api/apitest"
)

// TestInfoReturnsWhatCreateStored sends random valid bodies to /schedule/create. /schedule/info returns them unchanged,
// also after its reply was sent to /schedule/update.
func TestInfoReturnsWhatCreateStored(t *testing.T) {
	t.Parallel()
	s, r := start(t), newRandom(t)
	for i := range 50 {
		body := r.body()
		id := create(t, s, body)
		shown := read(t, s, id)
		if at := differs(parsed(t, text(t, body)), shown, ""); at != "" {
			t.Fatalf("case %d: %s\nsent  %s\nshown %s", i, at, text(t, body), text(t, shown))
		}
		s.Call(apitest.KeyA, "/schedule/update", shown).Into(&struct{}{})
		shown["revision"] = shown["revision"].(float64) + 1
		if again := read(t, s, id); !reflect.DeepEqual(shown, again) {
			t.Fatalf("case %d: sending back what is shown changed it\nfrom %s\nto   %s", i, text(t, shown), text(t, again))
		}
	}
}

func read(t *testing.T, s *apitest.Server, id int64) (shown map[string]any) {
	t.Helper()
	s.Call(apitest.KeyA, "/schedule/info", object{"schedule_id": id, "start": 1776009600, "end": 1776096000}).Into(&shown)
	return shown
}

func parsed(t *testing.T, document string) (out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(document), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// differs returns the path of the first value of sent that is shown differently; null and absent are not compared.
func differs(sent, shown any, at string) string {
	switch sent := sent.(type) {
	case nil:
		return ""
	case map[string]any:
		object, ok := shown.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: sent an object, shown %v", at, shown)
		}
		for name, value := range sent {
			if at := differs(value, object[name], at+"."+name); at != "" {
				return at
			}
		}
	case []any:
		list, ok := shown.([]any)
		if !ok || len(list) != len(sent) {
			return fmt.Sprintf("%s: sent %v, shown %v", at, sent, shown)
		}
		for i := range sent {
			if at := differs(sent[i], list[i], fmt.Sprintf("%s[%d]", at, i)); at != "" {
				return at
			}
		}
	default:
		if sent != shown {
			return fmt.Sprintf("%s: sent %v, shown %v", at, sent, shown)
		}
	}
	return ""
}

func TestPairsOfNames(t *testing.T) {
	t.Parallel()
	s := start(t)
	groups := layer(0, []int64{A})["groups"]
	one := func(changes object) map[string]any {
		return read(t, s, create(t, s, object{"layers": []any{layer(1776009600, nil, object{"groups": groups},
			changes)}}))["layers"].([]any)[0].(map[string]any)
	}
	cases := []struct {
		name      string
		got, want map[string]any
	}{
		{"newer names win in a schedule",
			read(t, s, create(t, s, object{"schedule_name": "new", "name": "old", "team_id": 1, "group_id": 2, "status": 1, "disabled": 0})),
			object{"schedule_name": "new", "name": "new", "team_id": 1., "group_id": 1., "status": 1., "disabled": 1.}},
		{"older names do in their absence",
			read(t, s, create(t, s, object{"schedule_name": "", "name": "old", "group_id": 2, "disabled": 1})),
			object{"schedule_name": "old", "name": "old", "team_id": 2., "group_id": 2., "status": 1., "disabled": 1.}},
		{"newer names win in a layer",
			one(object{"layer_name": "new", "name": "old", "layer_start": 1776009600, "enable_time": 1, "layer_end": 1776096000,
				"expire_time": 1776096001}),
			object{"layer_name": "new", "name": "new", "layer_start": 1776009600., "enable_time": 1776009600., "layer_end": 1776096000.,
				"expire_time": 1776096000.}},
		{"older names do in a layer",
			one(object{"layer_name": nil, "name": "old", "layer_start": nil, "enable_time": 1776009600, "layer_end": nil,
				"expire_time": 1776096001}),
			object{"layer_name": "old", "name": "old", "layer_start": 1776009600., "enable_time": 1776009600., "layer_end": 1776096001.,
				"expire_time": 1776096001.}},
		{"an end of 0 is none", one(object{"layer_end": 0}), object{"layer_end": nil, "expire_time": 0.}},
		{"a month is 30 days", one(object{"rotation_unit": "month", "rotation_value": 2}), object{"rotation_duration": 5184000.}},
		{"unit and value win over the duration", one(object{"rotation_unit": "day", "rotation_value": 2, "rotation_duration": 5}),
			object{"rotation_duration": 172800.}},
		{"weeks before days", one(object{"rotation_unit": nil, "rotation_value": nil, "rotation_duration": 14 * 86400}),
			object{"rotation_unit": "week", "rotation_value": 2., "rotation_duration": 1209600.}},
		{"days before hours", one(object{"rotation_unit": "", "rotation_value": 0, "rotation_duration": 2 * 86400}),
			object{"rotation_unit": "day", "rotation_value": 2., "rotation_duration": 172800.}},
		{"hours", one(object{"rotation_unit": nil, "rotation_value": nil, "rotation_duration": 12 * 3600}),
			object{"rotation_unit": "hour", "rotation_value": 12., "rotation_duration": 43200.}},
		{"no mask", one(object{"day_mask": nil}), object{"day_mask": map[string]any{"repeat": []any{}}}},
		{"bounds of a group are not configured",
			one(object{"groups": []any{object{"name": "g", "start": 5, "end": 6,
				"members": []any{object{"person_ids": []int64{A}}}}}})["groups"].([]any)[0].(map[string]any),
			object{"start": 0., "end": 0., "group_name": "g", "name": "g"}},
		{"half a fixed time is none",
			read(t, s, create(t, s, object{"notify": object{"fixed_time": object{"start": "08:00"}}}))["notify"].(map[string]any),
			object{"fixed_time": nil, "by": nil, "webhooks": nil}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for name, want := range c.want {
				if got, there := c.got[name]; !there || !reflect.DeepEqual(got, want) {
					t.Errorf("%s is %v, want %v", name, got, want)
				}
			}
		})
	}
}

func TestIntegrationIDStandsForDataSourceID(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := create(t, s, object{"notify": object{"webhooks": []any{object{"type": "slack_app",
		"settings": object{"integration_id": 5427276014131}}}}})
	settings := read(t, s, id)["notify"].(map[string]any)["webhooks"].([]any)[0].(map[string]any)["settings"].(map[string]any)
	if want := (map[string]any{"integration_id": 5427276014131.}); !reflect.DeepEqual(settings, want) {
		t.Errorf("got %v, want %v", settings, want)
	}
}
