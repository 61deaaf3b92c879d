package notify

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/sender"
)

// Chat is one chat to tell.
type Chat struct {
	Method  string
	Address Address
	Suffix  string // tells the keys of notices to several chats of one webhook apart
	Lacks   string // why it cannot be told at all; empty: it can
}

// Chats reads from a webhook of a rule or a schedule which chats are to be told: that of its settings, or of an app
// such as slack_app each of chat_ids, so that one that fails holds up no other.
func Chats(account int64, kind string, settings map[string]jsontext.Value) []Chat {
	chat := sender.Chat{
		Token: text(settings, "token"), URL: text(settings, "url", "endpoint", "webhook_url"), Alias: text(settings, "alias", "name"),
		VerifyToken: text(settings, "verify_token"), SignSecret: text(settings, "sign_secret"), ChatIDs: texts(settings["chat_ids"]),
	}
	if !strings.HasSuffix(kind, "_app") {
		return []Chat{{Method: kind, Address: Address{Chat: &chat}}}
	}
	app := number(settings, "data_source_id", "integration_id")
	switch {
	case app == 0:
		return []Chat{{Method: kind, Lacks: "its settings name no data_source_id, the integration whose app is to tell it"}}
	case len(chat.ChatIDs) == 0:
		return []Chat{{Method: kind, Lacks: "its settings name no chat_ids, the chats to tell"}}
	}
	var all []Chat
	for _, id := range chat.ChatIDs {
		to := Direct{Account: account, Kind: kind, Integration: app, Chat: id}
		all = append(all, Chat{Method: fmt.Sprintf("%s:%d", kind, app), Address: Address{Direct: &to}, Suffix: "/" + id})
	}
	return all
}

// text is the first of some settings that is a text, and not an empty one.
func text(settings map[string]jsontext.Value, names ...string) string {
	for _, name := range names {
		if v := settings[name]; v.Kind() == '"' {
			if s, err := jsontext.AppendUnquote(nil, v); err == nil && len(s) > 0 {
				return string(s)
			}
		}
	}
	return ""
}

// number is the first of some settings that is a whole number other than 0.
func number(settings map[string]jsontext.Value, names ...string) (n int64) {
	for _, name := range names {
		if v := settings[name]; v.Kind() == '0' && json.Unmarshal(v, &n) == nil && n != 0 {
			return n
		}
	}
	return 0
}

// texts are the members of a list, numbers as they are written.
func texts(list jsontext.Value) (all []string) {
	var members []jsontext.Value
	if json.Unmarshal(list, &members) != nil {
		return nil
	}
	for _, v := range members {
		if s, err := jsontext.AppendUnquote(nil, v); v.Kind() == '"' && err == nil {
			all = append(all, string(s))
		} else if v.Kind() == '0' {
			all = append(all, string(v))
		}
	}
	return all
}
