package warroom_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/egress"
	"tocsin/internal/warroom"
)

const (
	busy   = "663a1b2c3d4e5f6789abcdf0" // Olga is responsible, Ann was
	secret = "663a1b2c3d4e5f6789abcdf1" // of a private channel
	quiet  = "663a1b2c3d4e5f6789abcdf2" // no person ever was
)

// chats is a server instead of the chat services. It replies by path and stores the requests.
type chats struct {
	*httptest.Server
	mu         sync.Mutex
	routes     map[string]func(body string) string // by path, with the query where that matters
	openResult []string
}

func says(reply string) func(string) string { return func(string) string { return reply } }

func (c *chats) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.openResult = append(c.openResult, r.URL.Path+" "+r.URL.Query().Get("email")+string(body))
	answer := c.routes[r.URL.RequestURI()]
	if answer == nil {
		answer = c.routes[r.URL.Path]
	}
	if answer == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	io.WriteString(w, answer(string(body)))
}

// route sets the reply of a path.
func (c *chats) route(path string, answer func(string) string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.routes[path] = answer
}

// took returns the requests since the last call.
func (c *chats) took() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := strings.Join(c.openResult, "\n")
	c.openResult = nil
	return all
}

// services knows Olga and Ann in Slack by e-mail address, and Olga elsewhere by phone number.
func services(t *testing.T) *chats {
	c := &chats{routes: map[string]func(string) string{
		"/slack/users.lookupByEmail":                   says(`{"ok":false,"error":"users_not_found"}`),
		"/slack/users.lookupByEmail?email=O%40x.com":   says(`{"ok":true,"user":{"id":"U1"}}`),
		"/slack/users.lookupByEmail?email=Ann%40x.com": says(`{"ok":true,"user":{"id":"U2"}}`),
		"/slack/conversations.create":                  says(`{"ok":true,"channel":{"id":"C7","name":"abcdf0-checkout-is-slow"}}`),
		"/slack/conversations.invite":                  says(`{"ok":true}`),
		"/slack/auth.test":                             says(`{"ok":true,"url":"https://acme.slack.com/"}`),
		"/slack/conversations.info":                    says(`{"ok":true,"channel":{"name":"abcdf0-checkout"}}`),
		"/slack/conversations.archive":                 says(`{"ok":true}`),
		"/slack/chat.postMessage":                      says(`{"ok":true,"ts":"1.2"}`),

		"/feishu/open-apis/auth/v3/tenant_access_token/internal": says(`{"code":0,"tenant_access_token":"t0ken-of-access"}`),
		"/feishu/open-apis/contact/v3/users/batch_get_id":        says(`{"code":0,"data":{"user_list":[{"user_id":"ou_1"}]}}`),
		"/feishu/open-apis/im/v1/chats":                          says(`{"code":0,"data":{"chat_id":"oc_7"}}`),
		"/feishu/open-apis/im/v1/chats/oc_7/link":                says(`{"code":0,"data":{"share_link":"https://applink.example.com/x"}}`),
		"/feishu/open-apis/im/v1/chats/oc_7/members":             says(`{"code":0,"data":{}}`),
		"/feishu/open-apis/im/v1/chats/oc_7":                     says(`{"code":0,"data":{"name":"Quiet now"}}`),
		"/feishu/open-apis/im/v1/messages":                       says(`{"code":0,"data":{"message_id":"om_9"}}`),

		"/ding/gettoken":                   says(`{"errcode":0,"access_token":"t0ken-of-access"}`),
		"/ding/topapi/v2/user/getbymobile": says(`{"errcode":0,"result":{"userid":"d1"}}`),
		"/ding/chat/create":                says(`{"errcode":0,"chatid":"chat7"}`),
		"/ding/chat/get":                   says(`{"errcode":0,"chat_info":{"name":"Quiet now"}}`),
		"/ding/chat/update":                says(`{"errcode":0}`),
		"/ding/chat/send":                  says(`{"errcode":0}`),
		"/wecom/cgi-bin/gettoken":          says(`{"errcode":0,"access_token":"t0ken-of-access"}`),
		"/wecom/cgi-bin/user/getuserid":    says(`{"errcode":0,"userid":"w1"}`),
		"/wecom/cgi-bin/appchat/create":    says(`{"errcode":0,"chatid":"wc7"}`),
		"/wecom/cgi-bin/appchat/get":       says(`{"errcode":0,"chat_info":{"name":"Quiet now"}}`),
		"/wecom/cgi-bin/appchat/send":      says(`{"errcode":0}`),
		"/wecom/cgi-bin/appchat/update":    says(`{"errcode":0}`),
	}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Server.Close)
	return c
}

// begin starts a server with three incidents and no integration.
func begin(t *testing.T) (*apitest.Server, *chats) {
	keyring, bus := apitest.Box(t), &activity.Bus{}
	out := egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	s := apitest.Start(t, (&warroom.Service{Keyring: keyring, Bus: bus, Out: out}).Ops(), (&integration.Service{Keyring: keyring}).Ops(), (&incident.Service{Bus: bus}).Ops())
	s.Person(apitest.AccountA, 11, "Ann")
	s.Person(apitest.AccountA, 12, "Gone")
	s.Exec(`UPDATE person SET status = 'deleted' WHERE person_id = 12`)
	s.Exec(`UPDATE person SET email = 'Ann@x.com' WHERE person_id = 11`)
	s.Exec(`UPDATE person SET email = 'O@x.com', phone = '+8613800000001' WHERE person_id = $1`, apitest.OwnerA)
	s.Grant(auth.IncidentsManage)
	s.Exec(`DELETE FROM team_person WHERE account_id = $1 AND person_id = $2`, apitest.AccountA, apitest.Reader)
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1002, ChannelName: "Security", TeamID: apitest.TeamA, IsPrivate: true}}); err != nil {
			return err
		}
		return incident.Load(tx, apitest.AccountA, []incident.Incident{
			{IncidentID: busy, Title: "Checkout is <!channel> slow", Severity: "Critical", Assignments: []incident.Assignment{{PersonID: 11, AssignedAt: 1, RemovedAt: 2}, {PersonID: apitest.OwnerA, AssignedAt: 3}, {PersonID: 12, AssignedAt: 4}}},
			{IncidentID: secret, Title: "Secret", ChannelID: 1002},
			{IncidentID: quiet, Title: "Quiet"},
		})
	})
	return s, services(t)
}

// app is the call that creates an integration and keeps its id as $app.
func app(kind, credentials string) apitest.Turn {
	return apitest.Turn{Path: "/integration/create", Body: `{"integration_name":"` + kind + `","integration_type":"` + kind + `","settings":{"war_room_enabled":true,"app":` + credentials + `}}`, Keep: map[string]string{"app": "integration_id"}}
}
