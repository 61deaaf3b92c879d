package channel_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// hooked returns a layer with one webhook of these settings.
func hooked(kind, settings string) string {
	return `{"target":{"webhooks":[{"type":"` + kind + `","settings":` + settings + `}]}}`
}

// Secrets of any shape are sealed in storage, in clear to callers who may manage and empty to readers. Other
// settings stay as they are.
func TestSecretsOfAnyShape(t *testing.T) {
	t.Parallel()
	keyring := apitest.Box(t)
	s := apitest.Start(t, channel.Ops(keyring))
	s.Write(func(tx *db.Tx) error {
		return channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: open, ChannelName: "Payments"}})
	})
	s.Grant(auth.ChannelsRead)
	const (
		plain  = `"alias":"#ops","mode":"threads","limit":5,"chats":["a",{"id":1}],"signed":true,"none":null,"token_ref":"${env:TOKEN}"`
		secret = `"token":"hush1","api_key":778899,"headers":{"X-Org":"hush2"},"urls":["https://hush3.example.com"],"deep":{"a":[{"password":"hush4"}]},` +
			`"target":"https://hush5.example.com","list":[{"x":"http://hush6"}],"sealed_json":"x","odd":{"sealed_json":"https://hush7"}`
		blank = `"token":"","api_key":"","headers":"","urls":"","deep":"","target":"","list":"","sealed_json":"x","odd":""`
	)
	rule := func(settings string) string {
		return `{"layers":[` + hooked("new", "{"+settings+"}") + `]}`
	}
	const path = "/channel/escalate/rule"
	full, shown := rule(plain+","+secret), rule(plain+","+blank)
	body := escalation("["+hooked("new", "{"+plain+","+secret+"}")+"]", "")
	one := `{"channel_id":1001,"rule_id":"$id"}`
	checkSealed := func() {
		t.Helper()
		s.Read(func(tx *db.Tx) error {
			stored, _, err := db.One(tx, db.Column[string], `SELECT body FROM object WHERE kind = 'escalate_rule'`)
			for _, hidden := range []string{"hush", "778899"} {
				if strings.Contains(stored, hidden) {
					t.Errorf("%s is in clear in %s", hidden, stored)
				}
			}
			return err
		})
	}
	s.Converse(t, []apitest.Turn{
		{Path: path + "/create", Body: body, Keep: map[string]string{"id": "rule_id"}},
		{Path: path + "/info", Body: one, Has: full},
		{Path: path + "/info", Key: apitest.KeyReader, Body: one, Has: shown},
		{Path: path + "/list", Key: apitest.KeyReader, Body: `{"channel_id":1001}`, Has: `{"items":[` + shown + `]}`},
		{Path: path + "/disable", Body: one},
		{Path: path + "/info", Body: one, Has: full},
		// an update with what a reader sees changes nothing
		{Path: path + "/update", Body: `{"rule_id":"$id",` + escalation("["+hooked("new", "{"+plain+","+blank+"}")+"]", "")[1:]},
		{Path: path + "/info", Body: one, Has: full},
	})
	checkSealed()
	var secrets int
	s.Write(func(tx *db.Tx) (err error) {
		if _, err := keyring.Rotate(); err != nil {
			return err
		}
		secrets, err = channel.Escalates.Reseal(tx, keyring.Renew)
		return err
	})
	if old := keyring.KeyIDs()[1:]; secrets != 8 || len(old) != 1 {
		t.Errorf("%d secrets were sealed again, want 8; old keys %v", secrets, old)
	} else if err := keyring.Forget(old...); err != nil {
		t.Error(err)
	}
	checkSealed()
	list := s.Call(apitest.KeyA, path+"/list", `{"channel_id":1001}`)
	if !strings.Contains(string(list.Data), "hush7") {
		t.Errorf("after sealing again: %s", list.Body)
	}
}

// An empty secret keeps the stored one only where the webhook is still of the same type: the token of one
// chat must not end up in another.
func TestSecretsAreNotKeptForAnotherChat(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path, one = "/channel/escalate/rule", `{"channel_id":1001,"rule_id":"$id"}`
	update := func(layers string) string { return `{"rule_id":"$id",` + escalation(layers, "")[1:] }
	s.Converse(t, []apitest.Turn{
		{Path: path + "/create", Body: escalation("["+hooked("slack", `{"token":"hush","alias":"a"}`)+"]", ""), Keep: map[string]string{"id": "rule_id"}},
		{Path: path + "/update", Body: update("[" + hooked("slack", `{"token":"","alias":""}`) + "]")},
		{Path: path + "/info", Body: one, Has: `{"layers":[` + hooked("slack", `{"token":"hush","alias":""}`) + `]}`},
		{Path: path + "/update", Body: update("[" + emailLayer + "," + hooked("slack", `{"token":""}`) + "]")},
		{Path: path + "/info", Body: one, Has: `{"layers":[` + emailLayer + "," + hooked("slack", `{"token":""}`) + `]}`},
		{Path: path + "/update", Body: update("[" + hooked("slack", `{"token":"hush"}`) + "]")},
		{Path: path + "/update", Body: update("[" + hooked("zoom", `{"token":""}`) + "]")},
		{Path: path + "/info", Body: one, Has: `{"layers":[` + hooked("zoom", `{"token":""}`) + `]}`},
		{Path: path + "/update", Body: update("[" + hooked("zoom", `{}`) + "]"), Has: `{}`},
		{Path: path + "/info", Body: one, Has: `{"layers":[` + hooked("zoom", `{}`) + `]}`},
	})
}

// Random settings, some of which look sealed, are the same after sealing and opening.
func TestSettingsSurviveSealing(t *testing.T) {
	t.Parallel()
	keyring := apitest.Box(t)
	forged, err := keyring.Seal("hush", "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	kind := configstore.Kind[channel.EscalateRule]{Name: "escalate_rule", Head: channel.Escalates.Head, Secrets: channel.Escalates.Secrets}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 4))
		r := randomEscalate(rng, 1, 1, forged)
		before := marshalled(t, r)
		if err := kind.Seal(keyring, apitest.AccountA, &r); err != nil {
			t.Fatal(err)
		}
		if stored := marshalled(t, r); strings.Contains(stored, "hush.") { // sealed text may contain any word by chance, but no full stop
			t.Fatalf("seed %d: in clear in %s", seed, stored)
		}
		blank := r
		if err := kind.Blank(&blank); err != nil {
			t.Fatal(err)
		}
		if shown := marshalled(t, blank); strings.Contains(shown, "hush.") || strings.Contains(shown, forged) {
			t.Fatalf("seed %d: readers see %s", seed, shown)
		}
		if err := kind.Open(keyring, apitest.AccountA, &r); err != nil {
			t.Fatalf("seed %d: %v in %s", seed, err, before)
		}
		if got := marshalled(t, r); got != before {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, got, before)
		}
	}
}

func marshalled(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDeepSettings would not end if the work doubled with every level.
func TestDeepSettings(t *testing.T) {
	t.Parallel()
	s := start(t)
	deep := strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500)
	s.Converse(t, []apitest.Turn{
		{Path: "/channel/escalate/rule/create", Body: escalation("["+hooked("x", `{"deep":`+deep+`,"token":`+deep+`}`)+"]", ""), Keep: map[string]string{"id": "rule_id"}},
		{Path: "/channel/escalate/rule/info", Body: `{"channel_id":1001,"rule_id":"$id"}`, Has: `{"layers":[` + hooked("x", `{"deep":`+deep+`,"token":`+deep+`}`) + `]}`},
	})
}
