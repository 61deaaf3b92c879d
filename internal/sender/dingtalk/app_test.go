package dingtalk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/dingtalk"
	"tocsin/internal/sender/sendertest"
)

var people = []sender.Contact{{Name: "Ada", Phone: "+86 138-0000-0001"}, {Name: "Bo", Phone: "13800000002"}, {Name: "Cy", Email: "cy@example.com"}, {Name: "Di", Phone: "13800000004"}}

// organisation starts a service that knows Ada and Di.
func organisation(t *testing.T) (*sendertest.Service, dingtalk.App) {
	s := sendertest.New(t)
	s.Routes["/gettoken"] = sendertest.Always(`{"errcode":0,"errmsg":"ok","access_token":"` + sendertest.Token + `","expires_in":7200}`)
	s.Routes["/topapi/v2/user/getbymobile"] = func(body string) sendertest.Answer {
		switch {
		case strings.Contains(body, `"13800000001"`):
			return sendertest.Answer{Body: `{"errcode":0,"result":{"userid":"u1"}}`}
		case strings.Contains(body, `"13800000004"`):
			return sendertest.Answer{Body: `{"errcode":0,"result":{"userid":"u4"}}`}
		}
		return sendertest.Answer{Body: `{"errcode":60121,"errmsg":"no such user"}`}
	}
	s.Routes["/chat/create"] = sendertest.Always(`{"errcode":0,"errmsg":"ok","chatid":"chat7","openConversationId":"cid7"}`)
	s.Routes["/chat/update"] = sendertest.Always(`{"errcode":0,"errmsg":"ok"}`)
	s.Routes["/chat/send"] = sendertest.Always(`{"errcode":0,"errmsg":"ok","messageId":"m9"}`)
	return s, dingtalk.App{Key: "ding1", Secret: sendertest.Secret, Owner: "boss", BaseURL: s.URL}
}

func TestOpenGroup(t *testing.T) {
	s, app := organisation(t)
	group, err := app.OpenGroup(context.Background(), s.Out, "INC 42: the disk is full again", people)
	if want := "{ID:chat7 Name:INC 42: the disk is… Link: Missing:[Bo Cy]}"; err != nil || fmt.Sprintf("%+v", group) != want {
		t.Errorf("%+v %v, want %s", group, err, want)
	}
	if missing, err := app.AddMembers(context.Background(), s.Out, group.ID, people[:2]); err != nil || fmt.Sprint(missing) != "[Bo]" {
		t.Errorf("%v %v", missing, err)
	}
	if receipt, err := app.Post(context.Background(), s.Out, group.ID, sendertest.Message); err != nil || receipt.ID != "m9" {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "group")
	app.Owner = ""
	if group, err := app.OpenGroup(context.Background(), s.Out, "x", people[1:3]); err == nil || sender.Retry(err) || fmt.Sprint(group.Missing) != "[Bo Cy]" {
		t.Errorf("nobody is known: %+v %v", group, err)
	}
	if _, err := app.OpenGroup(context.Background(), s.Out, "x", people); err != nil || !strings.Contains(s.First("/chat/create"), `"owner":"u1"`) {
		t.Errorf("no owner: %s %v", s.First("/chat/create"), err)
	}
}

// TestManyPeople: a group opens with forty people; the others are added in batches, also if one is refused.
func TestManyPeople(t *testing.T) {
	s, app := organisation(t)
	s.Routes["/topapi/v2/user/getbymobile"] = func(body string) sendertest.Answer {
		return sendertest.Answer{Body: `{"errcode":0,"result":{"userid":"u` + strings.Trim(body[len(body)-4:], `"}`) + `"}}`}
	}
	joined := 0
	s.Routes["/chat/update"] = func(body string) sendertest.Answer {
		if strings.Contains(body, `"u95"`) {
			return sendertest.Answer{Body: `{"errcode":400002,"errmsg":"no"}`}
		}
		joined += strings.Count(body, `"u`)
		return sendertest.Answer{Body: `{"errcode":0}`}
	}
	many := []sender.Contact{}
	for i := range 100 {
		many = append(many, sender.Contact{Name: fmt.Sprint("P", i), Phone: fmt.Sprint(13800000000 + i)})
	}
	group, err := app.OpenGroup(context.Background(), s.Out, "x", many)
	if err != nil || fmt.Sprint(group.Missing) != "[P95]" || strings.Count(s.First("/chat/create"), `"u`) != 40 || joined != 60 {
		t.Errorf("%+v %v, %d at first, %d joined", group, err, strings.Count(s.First("/chat/create"), `"u`), joined)
	}
}

// TestRefusedFirstMember: a person with whom the group does not open keeps no one out, with an owner or without.
func TestRefusedFirstMember(t *testing.T) {
	for owner, opened := range map[string]string{"boss": `"useridlist":["boss"]`, "": `"owner":"u4"`} {
		s, app := organisation(t)
		app.Owner = owner
		with, joined := "", ""
		without := func(then func(body string)) func(string) sendertest.Answer {
			return func(body string) sendertest.Answer {
				if strings.Contains(body, `"u1"`) {
					return sendertest.Answer{Body: `{"errcode":400002,"errmsg":"no"}`}
				}
				then(body)
				return sendertest.Answer{Body: `{"errcode":0,"errmsg":"ok","chatid":"chat7"}`}
			}
		}
		s.Routes["/chat/create"] = without(func(body string) { with = body })
		s.Routes["/chat/update"] = without(func(body string) { joined += body })
		group, err := app.OpenGroup(context.Background(), s.Out, "x", people)
		if err != nil || group.ID != "chat7" || fmt.Sprint(group.Missing) != "[Bo Cy Ada]" || !strings.Contains(with, opened) || (owner != "") != strings.Contains(joined, `"u4"`) {
			t.Errorf("owner %q: %+v %v, opened with %s, joined %s", owner, group, err, with, joined)
		}
		s.Routes["/chat/create"] = sendertest.Always(`{"errcode":90018,"errmsg":"too often"}`)
		if group, err := app.OpenGroup(context.Background(), s.Out, "x", people); !sender.Retry(err) || group.ID != "" {
			t.Errorf("too often: %+v %v", group, err)
		}
	}
}

func TestAppErrors(t *testing.T) {
	s, app := organisation(t)
	login := s.Routes["/gettoken"]
	clear(s.Routes)
	s.Answer = sendertest.Answer{Body: `{"errcode":40089,"errmsg":"bad ` + sendertest.Secret + `"}`}
	if _, err := app.OpenGroup(context.Background(), s.Out, "x", people); err == nil || sender.Retry(err) || strings.Contains(err.Error(), sendertest.Secret) {
		t.Errorf("wrong secret: %v", err)
	}
	s.Routes["/gettoken"] = login
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		_, err := app.OpenGroup(ctx, s.Out, "x", people)
		return sender.Receipt{}, err
	})
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return app.Post(ctx, s.Out, "chat7", sendertest.Message)
	})
	s.Table(t, func() (sender.Receipt, error) {
		return app.Post(context.Background(), s.Out, "chat7", sendertest.Message)
	},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":49014,"errmsg":"chatid is invalid"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":90018,"errmsg":"too often"}`}, Retry: true})
}

func TestSendDirect(t *testing.T) {
	s, app := organisation(t)
	const direct = "/topapi/message/corpconversation/asyncsend_v2"
	s.Routes[direct] = sendertest.Always(`{"errcode":0,"task_id":256271667526,"request_id":"4jzllmte0wau"}`)
	send := func(ctx context.Context, to sender.Contact) error {
		_, err := app.SendDirect(ctx, s.Out, to, sendertest.Message)
		return err
	}
	sendertest.Unknown(t, send, people[0], "agent_id of the app must be set, to a number: DingTalk sends messages to persons in its name")
	app.AgentID = "158368"
	if receipt, err := app.SendDirect(context.Background(), s.Out, people[0], sendertest.Message); err != nil || receipt.ID != "256271667526" {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "direct")
	sendertest.Unknown(t, send, people[1], "DingTalk does not know Bo by phone number")
	sendertest.Unknown(t, send, people[2], "DingTalk does not know Cy by phone number")
	if s.First(direct) != "" {
		t.Error("something was sent")
	}
	delete(s.Routes, direct)
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) { return sender.Receipt{}, send(ctx, people[0]) })
	s.Table(t, func() (sender.Receipt, error) {
		return app.SendDirect(context.Background(), s.Out, people[0], sendertest.Message)
	},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":40056,"errmsg":"invalid agent"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":88,"errmsg":"ding talk error","sub_code":"90018"}`}, Retry: true})
}

// TestWorkNotifications: a work notification is short, keeps its links when cut, and its text is unique to its key.
func TestWorkNotifications(t *testing.T) {
	s, app := organisation(t)
	app.AgentID = "1"
	s.Routes["/topapi/message/corpconversation/asyncsend_v2"] = sendertest.Always(`{"errcode":0,"task_id":1}`)
	seen := map[string]string{}
	for _, text := range []string{"short", strings.Repeat("火", 3000), strings.Repeat("a\n", 3000), strings.Repeat("\"", 3000)} {
		for _, key := range []string{"k-1", "k-2", "k-1"} {
			m := sendertest.Message
			m.Key = key
			m.Text = render.Markup(text)
			m.Subject = text
			if _, err := app.SendDirect(context.Background(), s.Out, people[0], m); err != nil {
				t.Fatal(err)
			}
			var body struct{ Msg json.RawMessage }
			if err := json.Unmarshal([]byte(s.Body()), &body); err != nil {
				t.Fatal(err)
			}
			note := string(body.Msg)
			if len(note) > 2048 || (text != "short") != strings.Contains(note, m.AckLink) {
				t.Errorf("%d bytes: %s", len(note), note)
			}
			if before, twice := seen[note]; twice && before != text+key {
				t.Errorf("%.20q has the same note under several keys: %s", text, note)
			}
			seen[note] = text + key
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d messages, want 8", len(seen))
	}
}

func TestFindAndCloseGroup(t *testing.T) {
	s, app := organisation(t)
	s.Group(t, app, "/chat/get", map[string]string{
		`{"errcode":0,"chat_info":{"name":"now so"}}`: "{ID:chat7 Name:now so Link: Missing:[]} true <nil>",
		`{"errcode":49014,"errmsg":"invalid"}`:        "{ID: Name: Link: Missing:[]} false it refused with 49014: invalid",
	})
	s.Group(t, app, "/chat/update", map[string]string{
		`{"errcode":0}`:                        `closed DingTalk lets no app dissolve a group: it stays, and is now called "[Closed] INC 42: th…" <nil>`,
		`{"errcode":49014,"errmsg":"invalid"}`: "closed  it refused with 49014: invalid",
	})
	if body := s.First("/chat/update"); body != `{"chatid":"chat7","name":"[Closed] INC 42: th…"}` {
		t.Error(body)
	}
}
