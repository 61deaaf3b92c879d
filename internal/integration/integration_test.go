package integration_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

func TestSourceLifecycle(t *testing.T) {
	keyring := apitest.Box(t)
	s := apitest.Start(t, (&integration.Service{Keyring: keyring}).Ops(), channel.Ops(keyring))
	s.Grant(auth.IntegrationsRead)
	whole := `{"account_id":2451002751131,"integration_id":$id,"integration_name":"Prometheus EU","integration_type":"prometheus","description":"beide","team_id":4291079133131,"channel_id":$ch,"ref_id":"",
		"integration_key":"$key","push_url":"/event/push/alert/prometheus?integration_key=$key","status":"enabled","creator_id":2476123212131,"updated_by":2476123212131,"created_at":1776052801,"updated_at":1776052801}`
	shown := func(whole string) string { // what info has besides
		return strings.TrimSuffix(whole, "}") + `,"volume":{"bytes":0,"max_bytes_per_day":268435456}}`
	}
	blank := strings.NewReplacer("?integration_key=$key", "", "$key", "").Replace(whole)
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"x"}`, Keep: map[string]string{"ch": "channel_id"}},
		{Path: "/integration/create", Body: `{"integration_name":"a","integration_type":"pigeon"}`, Code: "InvalidParameter", Says: []string{"integration_type"}},
		{Path: "/integration/create", Body: `{"integration_name":"a","integration_type":"standard","channel_id":7}`, Code: "InvalidParameter", Says: []string{"channel_id", "channel 7"}},
		{Path: "/integration/create", Body: `{"integration_name":"a","integration_type":"heartbeat","channel_id":$ch}`, Code: "InvalidParameter", Says: []string{"interval_seconds"}},
		{Path: "/integration/create", Body: `{"integration_name":"Prometheus EU","integration_type":"prometheus","channel_id":$ch}`, Keep: map[string]string{"id": "integration_id", "key": "integration_key"}, Golden: "integration_create"},
		{Path: "/integration/update", Body: `{"integration_id":$id,"description":"beide","team_id":4291079133131}`, Data: `{}`, Golden: "integration_update"},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Data: shown(whole), Golden: "integration_info"},
		{Path: "/integration/info", Key: apitest.KeyReader, Body: `{"integration_id":$id}`, Data: shown(blank)},
		{Path: "/integration/list", Body: `{"query":"PROM"}`, Data: `{"items":[` + whole + `],"total":1,"has_next_page":false,"search_after_ctx":""}`, Golden: "integration_list"},
		{Path: "/integration/list", Key: apitest.KeyReader, Body: `{}`, Data: `{"items":[` + blank + `],"total":1,"has_next_page":false,"search_after_ctx":""}`},
		{Path: "/integration/disable", Body: `{"integration_id":$id}`, Data: `{}`, Golden: "integration_disable"},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Has: `{"status":"disabled","integration_key":"$key"}`},
		{Path: "/integration/enable", Body: `{"integration_id":$id}`, Data: `{}`, Golden: "integration_enable"},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Data: shown(whole)},
		{Path: "/integration/key/rotate", Body: `{"integration_id":$id,"grace_seconds":60}`, Keep: map[string]string{"new": "integration_key"}, Golden: "integration_key_rotate"},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Has: `{"integration_key":"$new"}`},
		{Path: "/integration/info", Key: apitest.KeyB, Body: `{"integration_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/integration/delete", Key: apitest.KeyReader, Body: `{"integration_id":$id}`, Code: "AccessDenied"},
		{Path: "/channel/disable", Body: `{"channel_id":$ch}`},
		{Path: "/channel/delete", Body: `{"channel_id":$ch}`, Code: "ReferenceExist", Has: `{"refs":[{"kind":"integration","id":"$id","name":"Prometheus EU"}]}`},
		{Path: "/integration/delete", Body: `{"integration_id":$id,"dry_run":true}`, Has: `{"allowed":true}`},
		{Path: "/integration/delete", Body: `{"integration_id":$id}`, Data: `{}`, Golden: "integration_delete"},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/integration/delete", Body: `{"integration_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/channel/delete", Body: `{"channel_id":$ch}`, Data: `{}`},
	})
}

func TestWebhookLifecycle(t *testing.T) {
	keyring := apitest.Box(t)
	s := apitest.Start(t, (&integration.Service{Keyring: keyring}).Ops(), channel.Ops(keyring))
	s.Grant(auth.IntegrationsRead)
	refused := func(settings string, says ...string) apitest.Turn {
		return apitest.Turn{Path: "/integration/create", Body: `{"integration_name":"a","integration_type":"webhook_incident","settings":` + settings + `}`, Code: "InvalidParameter", Says: says}
	}
	settings := `{"endpoint":"https://example.com/hook","event_types":["i_rslv","i_new"],"headers":{"Authorization":"Bearer tok3n"},"sign_secret":"s3cr3t"}`
	s.Converse(t, []apitest.Turn{
		refused(`{}`, "settings.endpoint"),
		refused(`{"endpoint":"ftp://x"}`, "settings.endpoint", "http"),
		refused(`{"endpoint":"https://u:p@example.com"}`, "settings.endpoint", "password"),
		refused(`{"endpoint":"https://example.com","event_types":["a_new"]}`, "settings.event_types[0]"),
		refused(`{"endpoint":"https://example.com","headers":{"a b":"c"}}`, "settings.headers"),
		refused(`{"endpoint":"https://example.com","channel_ids":[7]}`, "settings.channel_ids[0]"),
		{Path: "/integration/create", Body: `{"integration_name":"Out","integration_type":"webhook_incident","settings":{"endpoint":"http://127.0.0.1:1"}}`, Keep: map[string]string{"id": "integration_id"}, Has: `{"integration_key":"","push_url":"","warnings":["settings.endpoint: is an address of this network; webhooks go there only where the server allows it"]}`},
		{Path: "/integration/update", Body: `{"integration_id":$id,"settings":` + settings + `}`, Data: `{}`},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Has: `{"settings":` + settings + `}`},
		{Path: "/integration/info", Key: apitest.KeyReader, Body: `{"integration_id":$id}`, Has: `{"settings":{"headers":{"Authorization":""}}}`},
		{Path: "/integration/update", Body: `{"integration_id":$id,"settings":{"endpoint":"https://example.com/hook","event_types":["i_rslv","i_new"],"headers":{"Authorization":""}}}`, Data: `{}`},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Has: `{"settings":` + settings + `}`},
		{Path: "/integration/key/rotate", Body: `{"integration_id":$id}`, Code: "InvalidParameter", Says: []string{"webhook"}},
	})
	var n int64
	err := s.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM object WHERE body LIKE '%tok3n%' OR body LIKE '%s3cr3t%'`)
		return err
	})
	if n != 0 || err != nil {
		t.Errorf("%d objects hold secrets in clear: %v", n, err)
	}
}

// A rotated secret is shown once, when it is made. What a client sends back of what it read changes neither secret.
func TestSignSecretRotation(t *testing.T) {
	keyring := apitest.Box(t)
	s := apitest.Start(t, (&integration.Service{Keyring: keyring}).Ops(), channel.Ops(keyring))
	s.Grant(auth.IntegrationsRead)
	stored := func(now time.Time) (secrets []string) {
		t.Helper()
		s.Read(func(tx *db.Tx) error {
			all, err := integration.Kind.All(tx, apitest.AccountA)
			for i := range all {
				if all[i].IsWebhook() && err == nil {
					err = integration.Kind.Open(keyring, apitest.AccountA, &all[i])
					secrets = all[i].Settings.SignSecrets(now)
				}
			}
			return err
		})
		return secrets
	}
	var made struct {
		ID int64 `json:"integration_id"`
	}
	s.Call(apitest.KeyA, "/integration/create", `{"integration_name":"Out","integration_type":"webhook_alert","settings":{"endpoint":"https://example.com","sign_secret":"s3cr3t"}}`).Into(&made)
	id := fmt.Sprint(made.ID)
	s.Converse(t, []apitest.Turn{
		{Path: "/integration/info", Body: `{"integration_id":` + id + `}`, Keep: map[string]string{"id": "integration_id"}, Has: `{"settings":{"sign_secret":"s3cr3t"}}`},
		{Path: "/integration/secret/rotate", Key: apitest.KeyReader, Body: `{"integration_id":$id}`, Code: "AccessDenied"},
		{Path: "/integration/secret/rotate", Key: apitest.KeyB, Body: `{"integration_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/integration/secret/rotate", Body: `{"integration_id":$id,"grace_seconds":2592001}`, Code: "InvalidParameter", Says: []string{"grace_seconds"}},
		{Path: "/integration/secret/rotate", Body: `{"integration_id":$id,"grace_seconds":60}`, Keep: map[string]string{"new": "sign_secret"}, Golden: "integration_secret_rotate"},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Data: `{"account_id":2451002751131,"integration_id":$id,"integration_name":"Out","integration_type":"webhook_alert","description":"","team_id":0,"channel_id":0,"ref_id":"",
			"integration_key":"","push_url":"","settings":{"endpoint":"https://example.com","previous_sign_secret_expires_at":1776052861,"sign_secret_rotated_at":1776052801},"status":"enabled",
			"creator_id":2476123212131,"updated_by":2476123212131,"created_at":1776052801,"updated_at":1776052801}`},
		{Path: "/integration/update", Body: `{"integration_id":$id,"settings":{"endpoint":"https://example.com/2","previous_sign_secret_expires_at":1,"previous_sign_secret":"x"}}`, Data: `{}`},
		{Path: "/integration/info", Body: `{"integration_id":$id}`, Has: `{"settings":{"previous_sign_secret_expires_at":1776052861}}`},
	})
	now := apitest.Now
	if got := stored(now.Add(59 * time.Second)); len(got) != 2 || got[1] != "s3cr3t" || !strings.HasPrefix(got[0], "whsec_") {
		t.Errorf("in the grace: %q", got)
	}
	first := stored(now)[0]
	if got := stored(now.Add(61 * time.Second)); len(got) != 1 || got[0] != first {
		t.Errorf("after the grace: %q", got)
	}
	s.Converse(t, []apitest.Turn{
		{Path: "/integration/secret/rotate", Body: `{"integration_id":` + id + `,"grace_seconds":60}`},
	})
	if got := stored(now); len(got) != 2 || got[1] != first {
		t.Errorf("after a second rotation: %q", got)
	}
	s.Converse(t, []apitest.Turn{
		{Path: "/integration/secret/expire", Key: apitest.KeyReader, Body: `{"integration_id":` + id + `}`, Code: "AccessDenied"},
		{Path: "/integration/secret/expire", Body: `{"integration_id":` + id + `}`, Data: `{}`, Golden: "integration_secret_expire"},
	})
	if got := stored(now); len(got) != 1 || got[0] == first {
		t.Errorf("after the old one was removed: %q", got)
	}
	s.Call(apitest.KeyA, "/integration/update", `{"integration_id":`+id+`,"settings":{"endpoint":"https://example.com","sign_secret":"chosen"}}`).Into(&struct{}{})
	if got := stored(now); len(got) != 1 || got[0] != "chosen" {
		t.Errorf("after one was set: %q", got)
	}
	s.Converse(t, []apitest.Turn{
		{Path: "/integration/info", Body: `{"integration_id":` + id + `}`, Has: `{"settings":{"sign_secret":"chosen"}}`},
		{Path: "/integration/create", Body: `{"integration_name":"a","integration_type":"standard"}`, Keep: map[string]string{"source": "integration_id"}},
		{Path: "/integration/secret/rotate", Body: `{"integration_id":$source}`, Code: "InvalidParameter", Says: []string{"standard"}},
	})
	s.Read(func(tx *db.Tx) error {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM object WHERE body LIKE '%s3cr3t%' OR body LIKE '%whsec_%'`)
		if n != 0 {
			t.Errorf("%d objects hold a secret in clear", n)
		}
		return err
	})
}

func TestByKey(t *testing.T) {
	s := apitest.Start(t, (&integration.Service{Keyring: apitest.Box(t)}).Ops())
	var made, other struct {
		ID  int64  `json:"integration_id"`
		Key string `json:"integration_key"`
	}
	s.Call(apitest.KeyA, "/integration/create", `{"integration_name":"a","integration_type":"standard"}`).Into(&made)
	found := func(key string, at time.Time) (id int64) {
		t.Helper()
		s.Read(func(tx *db.Tx) error {
			i, ok, err := integration.ByKey(tx, key, at.Unix())
			if ok && i.AccountID != apitest.AccountA {
				t.Errorf("account %d", i.AccountID)
			}
			id = i.IntegrationID
			if i.Expired { // it is known whose it was
				id = -id
			}
			return err
		})
		return id
	}
	now := apitest.Now
	if found(made.Key, now) != made.ID || found("x", now) != 0 || found("", now) != 0 {
		t.Error("by the first key")
	}
	s.Call(apitest.KeyA, "/integration/key/rotate", map[string]any{"integration_id": made.ID, "grace_seconds": 60}).Into(&other)
	if found(other.Key, now) != made.ID || found(made.Key, now) != made.ID || found(made.Key, now.Add(time.Minute)) != -made.ID {
		t.Error("in and after the grace")
	}
	s.Call(apitest.KeyA, "/integration/delete", map[string]any{"integration_id": made.ID}).Into(&struct{}{})
	if found(other.Key, now) != 0 || found(made.Key, now) != 0 {
		t.Error("after it was deleted")
	}
}

// TestDedicatedIntegrationIsAsPrivateAsItsChannel calls every operation on an integration of a private channel.
func TestDedicatedIntegrationIsAsPrivateAsItsChannel(t *testing.T) {
	keyring := apitest.Box(t)
	s := apitest.Start(t, (&integration.Service{Keyring: keyring}).Ops(), channel.Ops(keyring))
	s.Grant(auth.IntegrationsManage)
	s.Exec(`DELETE FROM team_person WHERE account_id = $1 AND person_id = $2`, apitest.AccountA, apitest.Reader)
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/create", Body: `{"team_id":4291079133131,"channel_name":"x","is_private":true}`, Keep: map[string]string{"ch": "channel_id"}},
		{Path: "/integration/create", Key: apitest.KeyReader, Body: `{"integration_name":"a","integration_type":"standard","channel_id":$ch}`, Code: "AccessDenied"},
		{Path: "/integration/create", Body: `{"integration_name":"a","integration_type":"standard","channel_id":$ch}`, Keep: map[string]string{"id": "integration_id"}},
		{Path: "/integration/info", Key: apitest.KeyReader, Body: `{"integration_id":$id}`, Code: "AccessDenied"},
		{Path: "/integration/update", Key: apitest.KeyReader, Body: `{"integration_id":$id,"channel_id":0}`, Code: "AccessDenied"},
		{Path: "/integration/key/rotate", Key: apitest.KeyReader, Body: `{"integration_id":$id}`, Code: "AccessDenied"},
		{Path: "/integration/delete", Key: apitest.KeyReader, Body: `{"integration_id":$id}`, Code: "AccessDenied"},
		{Path: "/integration/list", Key: apitest.KeyReader, Body: `{}`, Data: `{"items":[],"total":0,"has_next_page":false,"search_after_ctx":""}`},
	})
}

func TestLoadIntegrations(t *testing.T) {
	apitest.RoundTrip(t, integration.Kind, []integration.Integration{
		{AccountID: apitest.AccountA, IntegrationID: 11, IntegrationName: "a", IntegrationType: "standard", IntegrationKey: "k3y", Status: "enabled"},
		{AccountID: apitest.AccountA, IntegrationID: 12, IntegrationName: "b", IntegrationType: "webhook_alert", Status: "disabled",
			Settings: &integration.Settings{Endpoint: "https://example.com", Headers: map[string]string{"A": "t0ken"}, SignSecret: "s3cret", PreviousSignSecret: "0ld", PreviousSignSecretExpiresAt: 7, SignSecretRotatedAt: 5}},
	}, map[string]func(*integration.Integration){
		"integration_id":   func(i *integration.Integration) { i.IntegrationID = 0 },
		"integration_name": func(i *integration.Integration) { i.IntegrationName = "" },
		"integration_type": func(i *integration.Integration) { i.IntegrationType = "x" },
	})
	s, keyring := apitest.Start(t), apitest.Box(t)
	s.Write(func(tx *db.Tx) error {
		return integration.Load(tx, keyring, apitest.AccountA, []integration.Integration{{IntegrationID: 5, IntegrationName: "a", IntegrationType: "standard", IntegrationKey: "of the file"},
			{IntegrationID: 6, IntegrationName: "b", IntegrationType: "standard"}})
	})
	s.Read(func(tx *db.Tx) error {
		i, found, err := integration.ByKey(tx, "of the file", 1)
		all, _ := integration.Kind.Dump(tx, keyring, apitest.AccountA, true)
		if !found || i.IntegrationID != 5 || len(all) != 2 || len(all[1].IntegrationKey) != 40 {
			t.Errorf("%+v %+v", i, all)
		}
		return err
	})
}
