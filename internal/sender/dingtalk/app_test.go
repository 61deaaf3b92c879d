package dingtalk_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/sender"
	"tocsin/internal/sender/dingtalk"
	"tocsin/internal/sender/sendertest"
)

var people = []sender.Contact{{Name: "Ada", Phone: "+86 138-0000-0001"}, {Name: "Bo", Phone: "13800000002"}, {Name: "Cy", Email: "cy@example.com"}, {Name: "Di", Phone: "13800000004"}}

// organisation knows Ada and Di.
func organisation(t *testing.T) (*sendertest.Service, dingtalk.App) {
	s := sendertest.New(t)
	s.Routes["/gettoken"] = sendertest.Says(`{"errcode":0,"errmsg":"ok","access_token":"` + sendertest.Token + `","expires_in":7200}`)
	s.Routes["/topapi/v2/user/getbymobile"] = func(body string) sendertest.Answer {
		switch {
		case strings.Contains(body, `"13800000001"`):
			return sendertest.Answer{Body: `{"errcode":0,"result":{"userid":"u1"}}`}
		case strings.Contains(body, `"13800000004"`):
			return sendertest.Answer{Body: `{"errcode":0,"result":{"userid":"u4"}}`}
		}
		return sendertest.Answer{Body: `{"errcode":60121,"errmsg":"no such user"}`}
	}
	s.Routes["/chat/create"] = sendertest.Says(`{"errcode":0,"errmsg":"ok","chatid":"chat7","openConversationId":"cid7"}`)
	s.Routes["/chat/update"] = sendertest.Says(`{"errcode":0,"errmsg":"ok"}`)
	s.Routes["/chat/send"] = sendertest.Says(`{"errcode":0,"errmsg":"ok","messageId":"m9"}`)
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

// A group opens with forty; the others join in lots, and one who may not does not keep them out.
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

// One with whom the group would not even open keeps nobody out, be there an owner or not.
func TestOneWhoMayNotOpenKeepsNobodyOut(t *testing.T) {
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
		s.Routes["/chat/create"] = sendertest.Says(`{"errcode":90018,"errmsg":"too often"}`)
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
