package session_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/session"
)

func TestOperations(t *testing.T) {
	s := apitest.Start(t, session.Ops())
	for range 2 {
		s.Write(func(tx *db.Tx) error {
			_, err := session.Begin(tx, session.Session{AccountID: apitest.AccountA, PersonID: apitest.Reader, Way: session.ByPassword, IP: "198.51.100.7", Agent: "Firefox"}, s.Clock.Now())
			return err
		})
	}
	s.Converse(t, []apitest.Turn{
		{Path: "/session/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"items":[{"way":"password","is_current":false},{}]}`,
			Keep: map[string]string{"one": "items.0.session_id", "two": "items.1.session_id"}, Golden: "session_list"},
		{Path: "/session/list", Body: `{}`, Data: `{"items":[]}`},
		{Path: "/session/list", Body: `{"person_id":2659460982131}`, Has: `{"items":[{},{}]}`},
		{Path: "/session/list", Key: apitest.KeyB, Body: `{"person_id":2659460982131}`, Data: `{"items":[]}`},
		{Path: "/session/list", Key: apitest.KeyNothing, Body: `{"person_id":2659460982131}`, Code: "AccessDenied", Says: []string{"owner"}},
		{Path: "/session/end", Key: apitest.KeyNothing, Body: `{"person_id":2659460982131,"is_all":true}`, Code: "AccessDenied"},
		{Path: "/session/end", Body: `{}`, Code: "InvalidParameter", Says: []string{"session_ids"}},
		{Path: "/session/end", Body: `{"session_ids":["$one"]}`, Data: `{}`}, // not the caller's
		{Path: "/session/end", Key: apitest.KeyB, Body: `{"person_id":2659460982131,"session_ids":["$one"]}`, Data: `{}`},
		{Path: "/session/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"items":[{},{}]}`},
		{Path: "/session/end", Key: apitest.KeyReader, Body: `{"session_ids":["$one"]}`, Data: `{}`, Golden: "session_end"},
		{Path: "/session/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"items":[{"session_id":"$two"}]}`},
		{Path: "/session/end", Body: `{"person_id":2659460982131,"is_all":true}`, Data: `{}`},
		{Path: "/session/list", Key: apitest.KeyReader, Body: `{}`, Data: `{"items":[]}`},
	})
}
