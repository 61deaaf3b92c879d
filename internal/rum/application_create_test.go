package rum_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

const (
	createPath = "/rum/application/create"
	updatePath = "/rum/application/update"
	deletePath = "/rum/application/delete"
	infoPath   = "/rum/application/info"
	listPath   = "/rum/application/list"
)

// channels stores two channels of account A and one of account B.
func channels(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 11, ChannelName: "One"}, {ChannelID: 12, ChannelName: "Two"}}); err != nil {
			return err
		}
		return channel.Load(tx, apitest.AccountB, []channel.Channel{{ChannelID: 13, ChannelName: "Theirs"}})
	})
}

type created struct {
	ApplicationID string `json:"application_id"`
	ClientToken   string `json:"client_token"`
	Warnings      []string
}

// shown returns an application as the API shows it, without the id and the token.
func shown(t *testing.T, s *apitest.Server, c created) string {
	t.Helper()
	r := s.Call(apitest.KeyA, infoPath, map[string]string{"application_id": c.ApplicationID})
	var data any
	r.Into(&data)
	return strings.NewReplacer(c.ApplicationID, "ID", c.ClientToken, "TOKEN").Replace(string(r.Data))
}

func TestApplicationCreate(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	channels(t, s)
	s.Grant(auth.ApplicationsRead)
	const least = `"application_name": "Web shop", "type": "browser", "team_id": 0`
	tracing := func(endpoint string) string {
		return fmt.Sprintf(`{`+least+`, "tracing": {"enabled": true, "open_type": "tab", "endpoint": %q}}`, endpoint)
	}
	look := func(want string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			var c created
			r.Into(&c)
			if !regexp.MustCompile(`\A[2-9A-HJ-NP-Za-km-z]{22}\z`).MatchString(c.ApplicationID) || !regexp.MustCompile(`\A[0-9a-f]{32}131\z`).MatchString(c.ClientToken) {
				t.Errorf("%+v", c)
			}
			if got := shown(t, s, c); !apitest.SameJSON([]byte(got), []byte(want)) {
				t.Errorf("shown as\n%s\nwant\n%s", got, want)
			}
		}
	}
	stamps := `, "status": "enabled", "account_id": 2451002751131, "application_id": "ID", "client_token": "TOKEN", "created_by": 2476123212131, "updated_by": 2476123212131, "created_at": 1776052801000, "updated_at": 1776052801000}`
	const tab = `{"enabled": true, "open_type": "tab", "endpoint": "https://t/${trace_id}"}`
	full := `{"application_name": "商店", "type": "unity", "team_id": 4291079133131, "is_private": true, "no_ip": true, "no_geo": true, "tracing": ` + tab
	s.Scenarios(t, createPath, []apitest.Scenario{
		{Name: "the least", Body: `{` + least + `}`, Then: look(`{` + least + `, "is_private": false, "no_ip": false, "no_geo": false,
			"alerting": {"enabled": false, "channel_ids": [], "integration_id": 0}, "tracing": {"enabled": false, "open_type": "", "endpoint": ""}, "the service": {"enabled": false, "open_type": "", "endpoint": ""}` + stamps)},
		{Name: "everything", Body: full + `, "alerting": {"enabled": true, "channel_ids": [12, 11], "integration_id": 5}}`,
			Then: look(full + `, "the service": ` + tab + `, "alerting": {"enabled": true, "channel_ids": [12, 11], "integration_id": 0}` + stamps)},
		{Name: "tracing under its other name", Body: `{` + least + `, "the service": ` + tab + `}`, Then: look(`{` + least + `, "is_private": false, "no_ip": false, "no_geo": false,
			"alerting": {"enabled": false, "channel_ids": [], "integration_id": 0}, "tracing": ` + tab + `, "the service": ` + tab + stamps)},
		{Name: "under both", Body: `{` + least + `, "tracing": ` + tab + `, "the service": ` + tab + `}`},
		{Name: "null is absent", Body: `{` + least + `, "is_private": null, "alerting": null, "tracing": null, "the service": null}`},
		{Name: "null within", Body: `{` + least + `, "alerting": {"enabled": null, "channel_ids": null}, "tracing": {"endpoint": null}}`},
		{Name: "alerting without a channel", Body: `{` + least + `, "alerting": {"enabled": true}, "tracing": {"enabled": true}}`, Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			var c created
			r.Into(&c)
			if len(c.Warnings) != 2 || !strings.Contains(c.Warnings[0], "alerting") || !strings.Contains(c.Warnings[1], "tracing") {
				t.Errorf("%q", c.Warnings)
			}
		}},
		{Name: "name of 40", Body: `{"application_name": "` + strings.Repeat("é", 40) + `", "type": "ios", "team_id": 0}`},
		{Name: "name of 41", Body: `{"application_name": "` + strings.Repeat("é", 41) + `", "type": "ios", "team_id": 0}`, Code: "InvalidParameter", Says: []string{"application_name", "40"}},
		{Name: "name empty", Body: `{"application_name": "", "type": "ios", "team_id": 0}`, Code: "InvalidParameter", Says: []string{"application_name", "1"}},
		{Name: "no name", Body: `{"type": "ios", "team_id": 0}`, Code: "InvalidParameter", Says: []string{"application_name", "required"}},
		{Name: "no type", Body: `{"application_name": "x", "team_id": 0}`, Code: "InvalidParameter", Says: []string{"type", "required"}},
		{Name: "unknown type", Body: `{"application_name": "x", "type": "web", "team_id": 0}`, Code: "InvalidParameter", Says: []string{"type", "web", "browser"}},
		{Name: "no team", Body: `{"application_name": "x", "type": "ios"}`, Code: "InvalidParameter", Says: []string{"team_id", "required"}},
		{Name: "unknown team", Body: `{"application_name": "x", "type": "ios", "team_id": 7}`, Code: "InvalidParameter", Says: []string{"team_id", "team 7"}},
		{Name: "another account's team", Key: apitest.KeyB, Body: `{"application_name": "x", "type": "ios", "team_id": 4291079133131}`, Code: "InvalidParameter", Says: []string{"team_id"}},
		{Name: "unknown channel", Body: `{` + least + `, "alerting": {"channel_ids": [11, 7]}}`, Code: "InvalidParameter", Says: []string{"alerting.channel_ids[1]", "channel 7"}},
		{Name: "another account's channel", Body: `{` + least + `, "alerting": {"channel_ids": [13]}}`, Code: "InvalidParameter", Says: []string{"alerting.channel_ids[0]"}},
		{Name: "unknown open_type", Body: `{` + least + `, "tracing": {"open_type": "modal"}}`, Code: "InvalidParameter", Says: []string{"tracing.open_type", "modal"}},
		{Name: "http", Body: tracing("http://t")},
		{Name: "ftp", Body: tracing("ftp://t"), Code: "InvalidParameter", Says: []string{"tracing.endpoint", "https://", "ftp"}},
		{Name: "endpoint of 2048", Body: tracing("https://" + strings.Repeat("t", 2040))},
		{Name: "endpoint of 2049", Body: tracing("https://" + strings.Repeat("t", 2041)), Code: "InvalidParameter", Says: []string{"tracing.endpoint", "2048"}},
		{Name: "two tracings", Body: `{` + least + `, "tracing": {"enabled": true}, "the service": {"enabled": false}}`, Code: "InvalidParameter", Says: []string{"the service", "tracing"}},
		{Name: "denied", Key: apitest.KeyReader, Body: `{` + least + `}`, Code: "AccessDenied", Says: []string{"Applications Manage (rum)"}},
		{Name: "malformed", Body: `{`, Code: "InvalidParameter"},
	})
	r := s.Call(apitest.KeyA, createPath, `{`+least+`}`)
	var c created
	r.Into(&c)
	apitest.Golden(t, "rum_application_create", r.Body, c.ApplicationID, "eWbr4xk3ZRnLabRa6unqwD", c.ClientToken, token)
}

// TestApplicationsReferToTeamsAndChannels: a team or channel that an application refers to cannot be deleted.
func TestApplicationsReferToTeamsAndChannels(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	channels(t, s)
	var c created
	s.Call(apitest.KeyA, createPath, fmt.Sprintf(`{"application_name": "Web shop", "type": "browser", "team_id": %d, "alerting": {"channel_ids": [11, 12, 11]}}`, int64(apitest.TeamA))).Into(&c)
	referring := func(want string) {
		t.Helper()
		s.Read(func(tx *db.Tx) error {
			got := ""
			for _, to := range []configstore.Target{configstore.RefTo(configstore.Team, int64(apitest.TeamA)), configstore.RefTo(configstore.Channel, 11), configstore.RefTo(configstore.Channel, 12)} {
				refs, err := configstore.References(tx, apitest.AccountA, to.Kind, to.ID)
				if err != nil {
					return err
				}
				for _, r := range refs {
					if r.Kind != configstore.Application || r.ID != c.ApplicationID {
						t.Errorf("%+v", r)
					}
					got += " " + to.Kind + " by " + r.Name
				}
			}
			if strings.TrimSpace(got) != want {
				t.Errorf("%s, want %s", got, want)
			}
			return nil
		})
	}
	referring("team by Web shop channel by Web shop channel by Web shop")
	s.Call(apitest.KeyA, updatePath, fmt.Sprintf(`{"application_id": %q, "application_name": "Shop", "team_id": 0, "alerting": {"channel_ids": [12]}}`, c.ApplicationID)).Into(new(any))
	referring("channel by Shop")
	s.Call(apitest.KeyA, deletePath, fmt.Sprintf(`{"application_id": %q}`, c.ApplicationID)).Into(new(any))
	referring("")
}
