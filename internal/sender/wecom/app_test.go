package wecom_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/sender"
	"tocsin/internal/sender/sendertest"
	"tocsin/internal/sender/wecom"
)

var people = []sender.Contact{{Name: "Ada", Phone: "+86 138-0000-0001", Email: "ada@example.com"}, {Name: "Bo", Phone: "13800000002"}, {Name: "Cy"}, {Name: "Di", Email: "di@example.com"}}

// organisation starts a service that knows Ada by phone and Di by her private e-mail address.
func organisation(t *testing.T) (*sendertest.Service, wecom.App) {
	s := sendertest.New(t)
	s.Routes["/cgi-bin/gettoken"] = sendertest.Always(`{"errcode":0,"errmsg":"ok","access_token":"` + sendertest.Token + `","expires_in":7200}`)
	s.Routes["/cgi-bin/user/getuserid"] = func(body string) sendertest.Answer {
		if strings.Contains(body, `"13800000001"`) {
			return sendertest.Answer{Body: `{"errcode":0,"errmsg":"ok","userid":"ada"}`}
		}
		return sendertest.Answer{Body: `{"errcode":46004,"errmsg":"user no exist"}`}
	}
	s.Routes["/cgi-bin/user/get_userid_by_email"] = func(body string) sendertest.Answer {
		if strings.Contains(body, `"email_type":2`) {
			return sendertest.Answer{Body: `{"errcode":0,"errmsg":"ok","userid":"di"}`}
		}
		return sendertest.Answer{Body: `{"errcode":60111,"errmsg":"userid not found"}`}
	}
	s.Routes["/cgi-bin/appchat/create"] = sendertest.Always(`{"errcode":0,"errmsg":"ok","chatid":"chat7"}`)
	s.Routes["/cgi-bin/appchat/update"] = sendertest.Always(`{"errcode":0,"errmsg":"ok"}`)
	s.Routes["/cgi-bin/appchat/send"] = sendertest.Always(`{"errcode":0,"errmsg":"ok"}`)
	return s, wecom.App{CorpID: "ww1", Secret: sendertest.Secret, Owner: "boss", BaseURL: s.URL}
}

func TestOpenGroup(t *testing.T) {
	s, app := organisation(t)
	group, err := app.OpenGroup(context.Background(), s.Out, strings.Repeat("支", 60), people)
	want := fmt.Sprintf("{ID:chat7 Name:%s… Link: Missing:[Bo Cy]}", strings.Repeat("支", 49))
	if err != nil || fmt.Sprintf("%+v", group) != want {
		t.Errorf("%+v %v, want %s", group, err, want)
	}
	if missing, err := app.AddMembers(context.Background(), s.Out, group.ID, people[:2]); err != nil || fmt.Sprint(missing) != "[Bo]" {
		t.Errorf("%v %v", missing, err)
	}
	if receipt, err := app.Post(context.Background(), s.Out, group.ID, sendertest.Message); err != nil || receipt.Status != 200 {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "group")
	app.Owner = ""
	if group, err := app.OpenGroup(context.Background(), s.Out, "x", people[:2]); err == nil || sender.Retry(err) || fmt.Sprint(group.Missing) != "[Bo]" {
		t.Errorf("one alone: %+v %v", group, err)
	}
}

func TestRefusedMember(t *testing.T) {
	s, app := organisation(t)
	s.Routes["/cgi-bin/appchat/update"] = func(body string) sendertest.Answer {
		if strings.Contains(body, `"di"`) {
			return sendertest.Answer{Body: `{"errcode":86008,"errmsg":"no"}`}
		}
		return sendertest.Answer{Body: `{"errcode":0}`}
	}
	if missing, err := app.AddMembers(context.Background(), s.Out, "chat7", people); err != nil || fmt.Sprint(missing) != "[Bo Cy Di]" {
		t.Errorf("%v %v", missing, err)
	}
	s.Routes["/cgi-bin/user/getuserid"] = sendertest.Always(`{"errcode":45009,"errmsg":"too often"}`)
	if _, err := app.AddMembers(context.Background(), s.Out, "chat7", people); !sender.Retry(err) {
		t.Errorf("too often: %v", err)
	}
}

// TestRefusedFirstMember: a person with whom the group does not open keeps no one out.
func TestRefusedFirstMember(t *testing.T) {
	many := append([]sender.Contact{{Name: "Eve", Email: "eve@example.com"}}, people...)
	for owner, opened := range map[string]string{"boss": `["boss","ada"]`, "": `["ada","di"]`} {
		s, app := organisation(t)
		app.Owner = owner
		s.Routes["/cgi-bin/user/get_userid_by_email"] = func(body string) sendertest.Answer {
			id := "di"
			if strings.Contains(body, "eve@") {
				id = "eve"
			}
			return sendertest.Answer{Body: `{"errcode":0,"userid":"` + id + `"}`}
		}
		with, joined := "", ""
		without := func(then func(body string)) func(string) sendertest.Answer {
			return func(body string) sendertest.Answer {
				if strings.Contains(body, `"eve"`) {
					return sendertest.Answer{Body: `{"errcode":60011,"errmsg":"no privilege"}`}
				}
				then(body)
				return sendertest.Answer{Body: `{"errcode":0,"errmsg":"ok","chatid":"chat7"}`}
			}
		}
		s.Routes["/cgi-bin/appchat/create"] = without(func(body string) { with = body })
		s.Routes["/cgi-bin/appchat/update"] = without(func(body string) { joined += body })
		group, err := app.OpenGroup(context.Background(), s.Out, "x", many)
		if err != nil || group.ID != "chat7" || fmt.Sprint(group.Missing) != "[Bo Cy Eve]" || !strings.Contains(with, opened) || (owner != "") != strings.Contains(joined, `"di"`) {
			t.Errorf("owner %q: %+v %v, opened with %s, joined %s", owner, group, err, with, joined)
		}
		s.Routes["/cgi-bin/appchat/create"] = sendertest.Always(`{"errcode":48002,"errmsg":"api forbidden"}`)
		if group, err := app.OpenGroup(context.Background(), s.Out, "x", many); err == nil || sender.Retry(err) || group.ID != "" || !strings.Contains(err.Error(), "48002") {
			t.Errorf("the app may not: %+v %v", group, err)
		}
	}
}

func TestAppErrors(t *testing.T) {
	s, app := organisation(t)
	login := s.Routes["/cgi-bin/gettoken"]
	clear(s.Routes)
	s.Answer = sendertest.Answer{Body: `{"errcode":40001,"errmsg":"invalid credential ` + sendertest.Secret + `"}`}
	if _, err := app.OpenGroup(context.Background(), s.Out, "x", people); err == nil || sender.Retry(err) || strings.Contains(err.Error(), sendertest.Secret) {
		t.Errorf("wrong secret: %v", err)
	}
	s.Routes["/cgi-bin/gettoken"] = login
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
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":86001,"errmsg":"chatid ` + sendertest.Token + ` is invalid"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":45009,"errmsg":"api freq out of limit"}`}, Retry: true})
}

func TestSendDirect(t *testing.T) {
	s, app := organisation(t)
	const direct = "/cgi-bin/message/send"
	s.Routes[direct] = sendertest.Always(`{"errcode":0,"errmsg":"ok","invaliduser":"","msgid":"m9"}`)
	send := func(ctx context.Context, to sender.Contact) error {
		_, err := app.SendDirect(ctx, s.Out, to, sendertest.Message)
		return err
	}
	sendertest.Unknown(t, send, people[0], "agent_id of the app must be set, to a number: WeCom sends messages to persons in its name")
	app.AgentID = "1000002"
	if receipt, err := app.SendDirect(context.Background(), s.Out, people[3], sendertest.Message); err != nil || receipt.ID != "m9" {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "direct")
	sendertest.Unknown(t, send, people[1], "WeCom does not know Bo by phone number or e-mail address")
	sendertest.Unknown(t, send, people[2], "WeCom does not know Cy by phone number or e-mail address")
	if s.First(direct) != "" {
		t.Error("something was sent")
	}
	delete(s.Routes, direct)
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) { return sender.Receipt{}, send(ctx, people[0]) })
	s.Table(t, func() (sender.Receipt, error) {
		return app.SendDirect(context.Background(), s.Out, people[0], sendertest.Message)
	},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":0,"errmsg":"ok","invaliduser":"ada","msgid":"m9"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":0,"errmsg":"ok","unlicenseduser":"ada"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":81013,"errmsg":"user & party & tag all invalid"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"errcode":45009,"errmsg":"api freq out of limit"}`}, Retry: true})
}

func TestFindAndCloseGroup(t *testing.T) {
	s, app := organisation(t)
	s.Group(t, app, "/cgi-bin/appchat/get", map[string]string{
		`{"errcode":0,"chat_info":{"name":"now so"}}`: "{ID:chat7 Name:now so Link: Missing:[]} true <nil>",
		`{"errcode":86003,"errmsg":"no such chat"}`:   "{ID: Name: Link: Missing:[]} false <nil>",
		`{"errcode":86008,"errmsg":"not yours"}`:      "{ID: Name: Link: Missing:[]} false it refused with 86008: not yours",
	})
	s.Group(t, app, "/cgi-bin/appchat/update", map[string]string{
		`{"errcode":0}`: `closed WeCom lets no app dissolve a group: it stays, and is now called "[Closed] INC 42: the disk is full again" <nil>`,
		`{"errcode":86003,"errmsg":"no such chat"}`: "closed  <nil>",
		`{"errcode":86008,"errmsg":"not yours"}`:    "closed  it refused with 86008: not yours",
	})
	if body := s.First("/cgi-bin/appchat/update"); body != `{"chatid":"chat7","name":"[Closed] INC 42: the disk is full again"}` {
		t.Error(body)
	}
}
