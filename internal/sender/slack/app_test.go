package slack_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/sender"
	"tocsin/internal/sender/sendertest"
	"tocsin/internal/sender/slack"
)

var people = []sender.Contact{{Name: "Ada", Email: "ada@example.com"}, {Name: "Bo", Email: "bo@example.com"}, {Name: "Cy", Phone: "+1 555"}, {Name: "Di", Email: "di@example.com"}, {Name: "Again", Email: "ada@example.com"}}

// workspace starts a service that knows Ada and Di, and in which the channel names in taken are in use.
func workspace(t *testing.T, taken ...string) (*sendertest.Service, slack.App) {
	s := sendertest.New(t)
	s.Query = true
	s.Routes["/users.lookupByEmail?email=ada%40example.com"] = sendertest.Always(`{"ok":true,"user":{"id":"U1"}}`)
	s.Routes["/users.lookupByEmail?email=bo%40example.com"] = sendertest.Always(`{"ok":false,"error":"users_not_found"}`)
	s.Routes["/users.lookupByEmail?email=di%40example.com"] = sendertest.Always(`{"ok":true,"user":{"id":"U4"}}`)
	s.Routes["/conversations.create"] = func(body string) sendertest.Answer {
		for _, name := range taken {
			if strings.Contains(body, fmt.Sprintf("%q", name)) {
				return sendertest.Answer{Body: `{"ok":false,"error":"name_taken"}`}
			}
		}
		return sendertest.Answer{Body: `{"ok":true,"channel":{"id":"C7","name":"as-it-is"}}`}
	}
	s.Routes["/auth.test"] = sendertest.Always(`{"ok":true,"url":"https://acme.slack.com/","team_id":"T1"}`)
	s.Routes["/conversations.invite"] = sendertest.Always(`{"ok":true,"channel":{"id":"C7"}}`)
	s.Routes["/chat.postMessage"] = sendertest.Always(`{"ok":true,"channel":"C7","ts":"1503435956.000247"}`)
	return s, slack.App{Token: sendertest.Token, Private: true, BaseURL: s.URL + "/"}
}

func TestOpenGroup(t *testing.T) {
	s, app := workspace(t, "inc-42-disk-is-full")
	group, err := app.OpenGroup(context.Background(), s.Out, "INC 42: Disk / is full!", people)
	if want := "{ID:C7 Name:as-it-is Link:https://acme.slack.com/archives/C7 Missing:[Bo Cy]}"; err != nil || fmt.Sprintf("%+v", group) != want {
		t.Errorf("%+v %v, want %s", group, err, want)
	}
	if receipt, err := app.Post(context.Background(), s.Out, group.ID, sendertest.Message); err != nil || receipt.ID != "1503435956.000247" {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "group")
	s.Routes["/auth.test"] = sendertest.Always(`{"ok":false,"error":"internal_error"}`)
	if group, err := app.OpenGroup(context.Background(), s.Out, "!", nil); err != nil || group.Link != "https://slack.com/app_redirect?channel=C7" {
		t.Errorf("no workspace, nobody: %+v %v", group, err)
	}
}

// TestAddMembers: a person who is in the channel is not missing; one who cannot be invited keeps no other out.
func TestAddMembers(t *testing.T) {
	s, app := workspace(t)
	for reply, want := range map[string]string{
		`{"ok":true,"errors":[{"user":"U1","ok":false,"error":"already_in_channel"},{"user":"U4","ok":false,"error":"cant_invite"}]}`: "[Bo Cy Di]",
		`{"ok":false,"error":"already_in_channel","errors":[{"user":"U1","ok":false,"error":"already_in_channel"}]}`:                  "[Bo Cy]",
		`{"ok":false,"error":"channel_not_found"}`: "[Bo Cy Ada Di] it refused with channel_not_found: see Slack's documentation of the method",
		`{"ok":false,"error":"ratelimited"}`:       "[Bo Cy] it refused with ratelimited: see Slack's documentation of the method",
	} {
		s.Routes["/conversations.invite"] = sendertest.Always(reply)
		missing, err := app.AddMembers(context.Background(), s.Out, "C7", people)
		got := fmt.Sprint(missing)
		if err != nil {
			got += " " + err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", reply, got, want)
		}
	}
}

func TestAppErrors(t *testing.T) {
	s, app := workspace(t)
	clear(s.Routes)
	rows := []sendertest.Fails{
		{Answer: sendertest.Answer{Body: "<html>"}},
		{Answer: sendertest.Answer{Body: `{"ok":false,"error":"invalid_auth"}`}},
		{Answer: sendertest.Answer{Body: `{"ok":false,"error":"is_archived"}`}},
		{Answer: sendertest.Answer{Body: `{"ok":false,"error":"fatal_error"}`}, Retry: true},
	}
	for _, row := range rows {
		s.Answer = row.Answer
		if _, err := app.OpenGroup(context.Background(), s.Out, "x", people); err == nil || sender.Retry(err) != row.Retry {
			t.Errorf("%v: %v", row.Answer, err)
		}
	}
	app.Token += "/" + sendertest.Secret // the table looks for both
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		_, err := app.OpenGroup(ctx, s.Out, "x", people)
		return sender.Receipt{}, err
	})
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return app.Post(ctx, s.Out, "C7", sendertest.Message)
	})
	s.Table(t, func() (sender.Receipt, error) { return app.Post(context.Background(), s.Out, "C7", sendertest.Message) }, rows...)
}

func TestNames(t *testing.T) {
	s, app := workspace(t)
	for name, want := range map[string]string{"Disk FULL / now": "disk-full-now", "支付 down": "支付-down", "###": "incident", "a_b--c": "a_b-c", strings.Repeat("x", 200): strings.Repeat("x", 80)} {
		if _, err := app.OpenGroup(context.Background(), s.Out, name, nil); err != nil || !strings.Contains(s.First("/conversations.create"), fmt.Sprintf(`"name":%q`, want)) {
			t.Errorf("%s: %s, want %s", name, s.First("/conversations.create"), want)
		}
		s.Forget()
	}
}

func TestSendDirect(t *testing.T) {
	s, app := workspace(t)
	if receipt, err := app.SendDirect(context.Background(), s.Out, people[0], sendertest.Message); err != nil || receipt.ID != "1503435956.000247" {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "direct")
	send := func(ctx context.Context, to sender.Contact) error {
		_, err := app.SendDirect(ctx, s.Out, to, sendertest.Message)
		return err
	}
	sendertest.Unknown(t, send, people[1], "Slack does not know Bo by e-mail address")
	sendertest.Unknown(t, send, people[2], "Slack does not know Cy by e-mail address")
	if s.First("/chat.postMessage") != "" {
		t.Error("something was posted")
	}
	s.Routes["/users.lookupByEmail?email=bo%40example.com"] = sendertest.Always(`{"ok":false,"error":"ratelimited"}`)
	if err := send(context.Background(), people[1]); !sender.Retry(err) {
		t.Errorf("too often: %v", err)
	}
	clear(s.Routes)
	s.Routes["/users.lookupByEmail?email=ada%40example.com"] = sendertest.Always(`{"ok":true,"user":{"id":"U1"}}`)
	app.Token += "/" + sendertest.Secret // the table looks for both
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) { return sender.Receipt{}, send(ctx, people[0]) })
	s.Table(t, func() (sender.Receipt, error) {
		return app.SendDirect(context.Background(), s.Out, people[0], sendertest.Message)
	},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"ok":false,"error":"messages_tab_disabled"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"ok":false,"error":"ratelimited"}`}, Retry: true})
}

func TestFindAndCloseGroup(t *testing.T) {
	s, app := workspace(t)
	s.Group(t, app, "/conversations.info?channel=chat7", map[string]string{
		`{"ok":true,"channel":{"id":"chat7","name":"now-so","is_archived":false}}`: "{ID:chat7 Name:now-so Link:https://acme.slack.com/archives/chat7 Missing:[]} true <nil>",
		`{"ok":true,"channel":{"id":"chat7","name":"now-so","is_archived":true}}`:  "{ID: Name: Link: Missing:[]} false <nil>",
		`{"ok":false,"error":"channel_not_found"}`:                                 "{ID: Name: Link: Missing:[]} false <nil>",
		`{"ok":false,"error":"missing_scope"}`:                                     "{ID: Name: Link: Missing:[]} false it refused with missing_scope: see Slack's documentation of the method",
	})
	s.Group(t, app, "/conversations.archive", map[string]string{
		`{"ok":true}`: "closed  <nil>",
		`{"ok":false,"error":"already_archived"}`:  "closed  <nil>",
		`{"ok":false,"error":"restricted_action"}`: "closed  it refused with restricted_action: see Slack's documentation of the method",
	})
	if body := s.First("/conversations.archive"); body != `{"channel":"chat7"}` {
		t.Error(body)
	}
}
