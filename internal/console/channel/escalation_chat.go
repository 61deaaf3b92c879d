package channel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/channel"
	"tocsin/internal/console/page"
)

// chatForm is a chat of a layer as the form holds it.
type chatForm struct {
	Name, Value string // the beginning of its fields' names, and the value of its button
	Type        string
	Settings    string // a name=value on each line
}

// Types returns the kinds of chats, with that of the form if it is another one.
func (c chatForm) Types() []string {
	all := []string{
		"slack_app", "slack", "teams_app", "telegram", "zoom", "feishu_app", "feishu", "dingtalk_app", "dingtalk", "wecom_app", "wecom",
	}
	if c.Type != "" && !slices.Contains(all, c.Type) {
		all = append(all, c.Type)
	}
	return all
}

// formOfChat returns a stored chat as the form holds it. A text is shown as it is, unless it would be read as another value.
func formOfChat(hook channel.Webhook) chatForm {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(hook.Settings)) {
		value := string(hook.Settings[name])
		var text string
		if json.Unmarshal(hook.Settings[name], &text) == nil && !jsontext.Value(text).IsValid() && text == strings.TrimSpace(text) &&
			!strings.ContainsAny(text, "\r\n") {
			value = text
		}
		lines = append(lines, name+"="+value)
	}
	return chatForm{Type: hook.Type, Settings: strings.Join(lines, "\n")}
}

// readChats returns the chats that were entered for layer i.
func readChats(v *page.Visit, i int) (all []chatForm) {
	for n := range 20 {
		name := fmt.Sprintf("%schat.%d.", at(i), n)
		if !v.Request.PostForm.Has(name + "type") {
			break
		}
		if v.Field("do") == fmt.Sprintf("remove-chat:%d:%d", i, n) {
			continue
		}
		all = append(all, chatForm{Type: v.Field(name + "type"), Settings: v.Field(name + "settings")})
	}
	return all
}

// chats returns chats as the API takes them.
func chats(forms []chatForm) (all []channel.Webhook) {
	for _, c := range forms {
		hook := channel.Webhook{Type: c.Type, Settings: map[string]jsontext.Value{}}
		for _, line := range page.Values(c.Settings) {
			name, text, _ := strings.Cut(line, "=")
			value := jsontext.Value(strings.TrimSpace(text))
			if !value.IsValid() {
				value, _ = json.Marshal(string(value)) // any text is JSON as a string
			}
			hook.Settings[strings.TrimSpace(name)] = value
		}
		all = append(all, hook)
	}
	return all
}
