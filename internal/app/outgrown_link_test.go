package app_test

import (
	"strings"
	"testing"
)

// TestWritesWarnOfLinksThatTheyEnd grants roles, adds permissions to a role, enables a role and adds a person to a team. Each write
// that ends the person's link warns of it, and a write without effect on the person does not.
func TestWritesWarnOfLinksThatTheyEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	invited, _ := w.person(w.keys[0], "ada", "read")
	role := w.must(w.keys[0], "/role/upsert", `{"role_name":"Some","permission_ids":[]}`, "role_id")
	other := w.must(w.keys[0], "/role/upsert", `{"role_name":"Other","permission_ids":[4]}`, "role_id")
	team := w.must(w.keys[0], "/team/upsert", `{"team_name":"Crew","person_ids":[]}`, "team_id")
	one := func(name, id string) string { return `"` + name + `":` + id }
	for _, step := range []struct {
		path, body string
		ends       bool
	}{
		{"/role/member/grant", `{` + one("role_id", role) + `,"member_ids":[` + invited + `]}`, false},
		{"/role/upsert", `{` + one("role_id", role) + `,"role_name":"Some","permission_ids":[2]}`, true},
		{"/role/upsert", `{` + one("role_id", role) + `,"role_name":"Named again"}`, false},
		{"/role/disable", `{` + one("role_id", role) + `}`, false},
		{"/role/enable", `{` + one("role_id", role) + `}`, true},
		{"/role/member/grant", `{` + one("role_id", other) + `,"member_ids":[` + invited + `]}`, true},
		{"/role/member/grant", `{` + one("role_id", other) + `,"member_ids":[` + invited + `]}`, false},
		{"/member/role/revoke", `{` + one("member_id", invited) + `,"role_ids":[` + other + `]}`, false},
		{"/member/role/update", `{` + one("member_id", invited) + `,"role_ids":[` + role + `,` + other + `]}`, true},
		{"/member/role/revoke", `{` + one("member_id", invited) + `,"role_ids":[` + other + `]}`, false},
		{"/member/role/grant", `{` + one("member_id", invited) + `,"role_ids":[` + other + `]}`, true},
		{"/team/upsert", `{` + one("team_id", team) + `,"team_name":"Crew","person_ids":[` + invited + `]}`, true},
		{"/team/upsert", `{` + one("team_id", team) + `,"team_name":"Crew","description":"x"}`, false},
	} {
		w.must(w.keys[0], "/person/link/create", `{`+one("person_id", invited)+`}`, "link_path")
		raw, code := w.call(w.keys[0], step.path, step.body)
		if warns := strings.Contains(raw, "links to set a password of person "+invited+" do not work any more"); code != "" || warns != step.ends {
			t.Errorf("%s %s: %s", step.path, step.body, raw)
		}
	}
}
