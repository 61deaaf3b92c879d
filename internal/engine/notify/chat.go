package notify

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/sentence"
	"tocsin/internal/sender"
)

// Chat is one chat to notify.
type Chat struct {
	Method  string
	Address Address
	Suffix  string         // makes the keys of notifications to several chats of one webhook different
	Lacks   sentence.Value // why it cannot be notified at all; empty: it can
}

// Chats returns the chats that a webhook of a rule or a schedule names: the one of its settings, or for an app such as
// slack_app each of chat_ids. Each is a notification of its own, so that one that fails cannot block the others.
func Chats(account int64, kind string, settings map[string]jsontext.Value) []Chat {
	chat := sender.Chat{
		Token:       text(settings, "token"),
		URL:         text(settings, "url", "endpoint", "webhook_url"),
		Alias:       text(settings, "alias", "name"),
		VerifyToken: text(settings, "verify_token"),
		SignSecret:  text(settings, "sign_secret"),
		ChatIDs:     texts(settings["chat_ids"]),
	}
	if !strings.HasSuffix(kind, "_app") {
		return []Chat{{Method: kind, Address: Address{Chat: &chat}}}
	}
	app := number(settings, "data_source_id", "integration_id")
	switch {
	case app == 0:
		return []Chat{{Method: kind, Lacks: sentence.New("l_settings_source")}}
	case len(chat.ChatIDs) == 0:
		return []Chat{{Method: kind, Lacks: sentence.New("l_settings_chats")}}
	}
	var all []Chat
	for _, id := range chat.ChatIDs {
		to := Direct{Account: account, Kind: kind, Integration: app, Chat: id}
		all = append(all, Chat{Method: fmt.Sprintf("%s:%d", kind, app), Address: Address{Direct: &to}, Suffix: "/" + id})
	}
	return all
}

// text returns the first of some settings that is a non-empty string.
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

// number returns the first of some settings that is a whole number other than 0.
func number(settings map[string]jsontext.Value, names ...string) (n int64) {
	for _, name := range names {
		if v := settings[name]; v.Kind() == '0' && json.Unmarshal(v, &n) == nil && n != 0 {
			return n
		}
	}
	return 0
}

// texts returns the strings and numbers of a list, numbers as they are written.
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
