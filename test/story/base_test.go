package story

import (
	"fmt"
	"strings"
)

// base is the account file of the world.
var base = fmt.Sprintf(`{
	"format": "tocsin.account/1",
	"account": {"account_id": %[1]d, "account_name": "Story", "time_zone": "UTC", "owner_id": %[2]d},
	"roles": [{"role_id": 7, "role_name": "Responder", "permissions": ["Incidents Manage (on-call)", "Channels Manage (on-call)", "Schedules Read (on-call)"]}],
	"teams": [{"team_id": %[3]d, "team_name": "ops", "person_ids": [%[5]d, %[6]d]}, {"team_id": %[4]d, "team_name": "nobody", "person_ids": []}],
	"persons": [
		{"person_id": %[2]d, "person_name": "Olga Owner", "email": "olga@example.com"},
		{"person_id": %[7]d, "person_name": "Ann Day", "email": "ann@example.com", "phone": "+15550100", "time_zone": "Europe/Berlin", "role_ids": [7]},
		{"person_id": %[5]d, "person_name": "Bob Night", "email": "bob@example.com", "role_ids": [7]},
		{"person_id": %[6]d, "person_name": "Cid Ops", "email": "cid@example.com", "role_ids": [7]},
		{"person_id": %[8]d, "person_name": "Dee Mute", "role_ids": [7]}
	],
	"app_keys": [{"name": "owner", "person_id": %[2]d, "app_key": "owner-key-of-the-stories-0123456789"}, {"name": "ann", "person_id": %[7]d, "app_key": "anns-key-of-the-stories-01234567890"}],
	"schedules": [
		{"schedule_id": %[9]d, "schedule_name": "Day", "layers": [{"layer_name": "always", "mode": 0, "layer_start": 1767225600, "rotation_unit": "day", "rotation_value": 1, "groups": [{"group_name": "A", "members": [{"role_id": 0, "person_ids": [%[7]d]}]}]}]},
		{"schedule_id": %[10]d, "schedule_name": "Night", "layers": [{"layer_name": "nights", "mode": 0, "layer_start": 1767225600, "rotation_unit": "day", "rotation_value": 1, "restrict_mode": 1, "restrict_periods": [{"restrict_start": 79200, "restrict_end": 21600}], "groups": [{"group_name": "N", "members": [{"role_id": 0, "person_ids": [%[5]d]}]}]}]}
	],
	"channels": [{"channel_id": %[11]d, "channel_name": "Shop"}, {"channel_id": %[12]d, "channel_name": "Mail"}],
	"integrations": [
		{"integration_id": %[13]d, "integration_name": "Shop events", "integration_type": "standard", "channel_id": %[11]d, "integration_key": "00112233445566778899aabbccddeeff131"},
		{"integration_id": %[14]d, "integration_name": "Everything else", "integration_type": "standard", "integration_key": "ffeeddccbbaa99887766554433221100131"}
	]
}`, account, olga, ops, empty, bob, cid, ann, dee, day, night, shop, mail, sink, shared)

// escalates is a section with one escalation rule of the shop: its layers, and members beside them.
func escalates(layers string, more ...string) string {
	extra := ""
	for _, m := range more {
		extra += ", " + m
	}
	return fmt.Sprintf(`{"escalate_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": %d, "rule_name": "on call", "template_id": "000000000000000000000001", "layers": [%s]%s}]}`, shop, patient(layers), extra)
}

// patient sets the longest window of the last of some layers, unless it has one. Stories of half a day are then not about
// the fallback, which is notified when the last layer has had its time.
func patient(layers string) string {
	if last := strings.LastIndex(layers, `{"target"`); last < 0 || strings.Contains(layers[last:], "escalate_window") {
		return layers
	}
	return strings.TrimSuffix(layers, "}") + ", " + window(720) + "}"
}

// by is the method by which the layers of stories notify persons.
const by = `"by": {"follow_preference": true}`

// layer is one that names a target's members; times as given.
func layer(target string, times ...string) string {
	extra := ""
	for _, m := range times {
		extra += ", " + m
	}
	return fmt.Sprintf(`{"target": {%s, %s}%s}`, target, by, extra)
}

func onCall(schedule int) string { return fmt.Sprintf(`"schedule_to_role_ids": {"%d": []}`, schedule) }
func persons(ids ...int) string  { return `"person_ids": ` + numbers(ids) }
func teams(ids ...int) string    { return `"team_ids": ` + numbers(ids) }
func window(minutes int) string  { return fmt.Sprintf(`"escalate_window": %d`, minutes) }
func again(times int, every float64) string {
	return fmt.Sprintf(`"max_times": %d, "notify_step": %v`, times, every)
}

func numbers(ids []int) string {
	text := ""
	for i, id := range ids {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(id)
	}
	return "[" + text + "]"
}
