package feishu_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/feishu"
	"tocsin/internal/sender/sendertest"
)

var people = []sender.Contact{{Name: "Ada", Email: "ada@example.com", Phone: "+86 138-0000-0001"}, {Name: "Bo", Email: "bo@example.com"}, {Name: "Cy"}, {Name: "Di", Phone: "+85290000000"}}

// organisation starts a service that knows Ada and Di.
func organisation(t *testing.T) (*sendertest.Service, feishu.App) {
	s := sendertest.New(t)
	s.Routes["/open-apis/auth/v3/tenant_access_token/internal"] = sendertest.Always(`{"code":0,"msg":"ok","tenant_access_token":"` + sendertest.Token + `","expire":7200}`)
	s.Routes["/open-apis/contact/v3/users/batch_get_id"] = func(body string) sendertest.Answer {
		switch {
		case strings.Contains(body, "ada@"):
			return sendertest.Answer{Body: `{"code":0,"data":{"user_list":[{"email":"ada@example.com"},{"mobile":"13800000001","user_id":"ou_1"}]}}`}
		case strings.Contains(body, "+852"):
			return sendertest.Answer{Body: `{"code":0,"data":{"user_list":[{"mobile":"+85290000000","user_id":"ou_4"}]}}`}
		}
		return sendertest.Answer{Body: `{"code":0,"data":{"user_list":[{"email":"bo@example.com"}]}}`}
	}
	s.Routes["/open-apis/im/v1/chats"] = sendertest.Always(`{"code":0,"data":{"chat_id":"oc_7"}}`)
	s.Routes["/open-apis/im/v1/chats/oc_7/link"] = sendertest.Always(`{"code":0,"data":{"share_link":"https://applink.feishu.cn/x"}}`)
	s.Routes["/open-apis/im/v1/chats/oc_7/members"] = sendertest.Always(`{"code":0,"data":{"invalid_id_list":[],"not_existed_id_list":[]}}`)
	s.Routes["/open-apis/im/v1/messages"] = sendertest.Always(`{"code":0,"data":{"message_id":"om_9"}}`)
	return s, feishu.App{ID: "cli_1", Secret: sendertest.Secret, BaseURL: s.URL}
}

func TestOpenGroup(t *testing.T) {
	s, app := organisation(t)
	group, err := app.OpenGroup(context.Background(), s.Out, strings.Repeat("支", 70), people)
	want := fmt.Sprintf("{ID:oc_7 Name:%s… Link:https://applink.feishu.cn/x Missing:[Bo Cy]}", strings.Repeat("支", 59))
	if err != nil || fmt.Sprintf("%+v", group) != want {
		t.Errorf("%+v %v, want %s", group, err, want)
	}
	if receipt, err := app.Post(context.Background(), s.Out, group.ID, sendertest.Message); err != nil || receipt.ID != "om_9" {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "group")
	s.Routes["/open-apis/im/v1/chats/oc_7/link"] = sendertest.Always(`{"code":232009,"msg":"no permission"}`)
	if group, err := app.OpenGroup(context.Background(), s.Out, "x", nil); err != nil || group.ID != "oc_7" || group.Link != "" {
		t.Errorf("no link, nobody: %+v %v", group, err)
	}
}

func TestAddMembers(t *testing.T) {
	s, app := organisation(t)
	members := "/open-apis/im/v1/chats/oc_7/members"
	for what, c := range map[string]struct {
		answer func(string) sendertest.Answer
		want   string
	}{
		"one may not":     {sendertest.Always(`{"code":0,"data":{"invalid_id_list":["ou_4"]}}`), "[Bo Cy Di] <nil>"},
		"one is refused":  {func(body string) sendertest.Answer { return unless(body, "ou_4", 232024) }, "[Bo Cy Di] <nil>"},
		"all are refused": {func(body string) sendertest.Answer { return unless(body, "ou", 232011) }, "[Bo Cy Ada Di] it refused with 232011: no"},
		"too often":       {func(body string) sendertest.Answer { return unless(body, "ou", 99991400) }, "[Bo Cy] it answered 400 Bad Request: {\"code\":99991400,\"msg\":\"no\"}"},
	} {
		s.Routes[members] = c.answer
		missing, err := app.AddMembers(context.Background(), s.Out, "oc_7", people)
		if got := fmt.Sprint(missing, err); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
		if sender.Retry(err) != (what == "too often") {
			t.Errorf("%s: retry: %v", what, err)
		}
	}
}

// unless returns a route that refuses bodies that contain a word.
func unless(body, word string, code int) sendertest.Answer {
	if !strings.Contains(body, word) {
		return sendertest.Answer{Body: `{"code":0}`}
	}
	a := sendertest.Answer{Body: fmt.Sprintf(`{"code":%d,"msg":"no"}`, code)}
	if code == 99991400 {
		a.Status = 400
	}
	return a
}

func TestAppErrors(t *testing.T) {
	s, app := organisation(t)
	login := s.Routes["/open-apis/auth/v3/tenant_access_token/internal"]
	clear(s.Routes)
	s.Answer = sendertest.Answer{Body: `{"code":10014,"msg":"app secret ` + sendertest.Secret + ` invalid"}`}
	if _, err := app.OpenGroup(context.Background(), s.Out, "x", people); err == nil || sender.Retry(err) || strings.Contains(err.Error(), sendertest.Secret) {
		t.Errorf("wrong secret: %v", err)
	}
	s.Routes["/open-apis/auth/v3/tenant_access_token/internal"] = login
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		_, err := app.OpenGroup(ctx, s.Out, "x", people)
		return sender.Receipt{}, err
	})
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return app.Post(ctx, s.Out, "oc_7", sendertest.Message)
	})
	s.Table(t, func() (sender.Receipt, error) {
		return app.Post(context.Background(), s.Out, "oc_7", sendertest.Message)
	},
		sendertest.Fails{Answer: sendertest.Answer{Body: `{"code":230002,"msg":"bot not in chat"}`}},
		sendertest.Fails{Answer: sendertest.Answer{Status: 400, Body: `{"code":99991400,"msg":"request trigger frequency limit"}`}, Retry: true},
		sendertest.Fails{Answer: sendertest.Answer{Status: 400, Body: `{"code":99991663,"msg":"token ` + sendertest.Token + ` invalid"}`}})
}

func TestLongPost(t *testing.T) {
	s, app := organisation(t)
	for _, costly := range []string{"火", "\n", "\"", "**b**", "[a](https://b)", "[", "a\n", "\\"} {
		long := sendertest.Message
		long.Text = render.Markup(strings.Repeat(costly, 20_000))
		if _, err := app.Post(context.Background(), s.Out, "oc_7", long); err != nil || len(s.Body()) > 30_000 {
			t.Errorf("%q: %d bytes, %v", costly, len(s.Body()), err)
		}
	}
}

func TestSendDirect(t *testing.T) {
	s, app := organisation(t)
	if receipt, err := app.SendDirect(context.Background(), s.Out, people[0], sendertest.Message); err != nil || receipt.ID != "om_9" {
		t.Errorf("%+v %v", receipt, err)
	}
	s.Golden(t, "direct")
	send := func(ctx context.Context, to sender.Contact) error {
		_, err := app.SendDirect(ctx, s.Out, to, sendertest.Message)
		return err
	}
	sendertest.Unknown(t, send, people[1], "Feishu does not know Bo by e-mail address or phone number")
	sendertest.Unknown(t, send, people[2], "Feishu does not know Cy by e-mail address or phone number")
	if s.First("/open-apis/im/v1/messages") != "" {
		t.Error("something was posted")
	}
	delete(s.Routes, "/open-apis/im/v1/messages")
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) { return sender.Receipt{}, send(ctx, people[0]) })
	s.Table(t, func() (sender.Receipt, error) {
		return app.SendDirect(context.Background(), s.Out, people[0], sendertest.Message)
	},
		sendertest.Fails{Answer: sendertest.Answer{Status: 400, Body: `{"code":230013,"msg":"Bot has NO availability to this user."}`}},
		sendertest.Fails{Answer: sendertest.Answer{Status: 400, Body: `{"code":230020,"msg":"This operation triggers the frequency limit."}`}, Retry: true})
}

func TestFindAndCloseGroup(t *testing.T) {
	s, app := organisation(t)
	const chat = "/open-apis/im/v1/chats/chat7"
	s.Routes[chat+"/link"] = sendertest.Always(`{"code":0,"data":{"share_link":"https://applink.feishu.cn/x"}}`)
	s.Group(t, app, chat, map[string]string{
		`{"code":0,"data":{"name":"now so","chat_status":"normal"}}`:    "{ID:chat7 Name:now so Link:https://applink.feishu.cn/x Missing:[]} true <nil>",
		`{"code":0,"data":{"name":"now so","chat_status":"dissolved"}}`: "{ID: Name: Link: Missing:[]} false <nil>",
		`{"code":232009,"msg":"already dissolved"}`:                     "{ID: Name: Link: Missing:[]} false <nil>",
		`{"code":232011,"msg":"not in the chat"}`:                       "{ID: Name: Link: Missing:[]} false it refused with 232011: not in the chat",
	})
	s.Group(t, app, chat, map[string]string{
		`{"code":0,"data":{}}`:              "closed  <nil>",
		`{"code":232006,"msg":"none"}`:      "closed  <nil>",
		`{"code":232017,"msg":"not owner"}`: "closed  it refused with 232017: not owner",
	})
	s.Forget()
	s.Routes[chat] = sendertest.Always(`{"code":0}`)
	if _, err := app.CloseGroup(context.Background(), s.Out, sender.Group{ID: "chat7"}); err != nil {
		t.Error(err)
	}
	s.Golden(t, "close")
}
