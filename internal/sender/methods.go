package sender

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Methods lists the methods that notify persons, except the direct messages of apps.
var Methods = []string{
	"email", "sms", "voice", "push", "webhook", "slack", "teams", "feishu", "dingtalk", "wecom", "telegram", "discord", "ntfy", "zoom",
}

// direct matches the direct message of an app: its type, with or without the number of the integration.
var direct = regexp.MustCompile(`\A(slack|feishu|dingtalk|wecom|teams)_app(:[1-9][0-9]{0,18})?\z`)

// CheckMethod returns what is allowed and what came, for a text that is no method; empty for a method. A method that no
// sender knows would be stored and then reach no one.
func CheckMethod(method string) string {
	if slices.Contains(Methods, method) || direct.MatchString(method) {
		return ""
	}
	return fmt.Sprintf("must be one of %s, or the direct message of an app such as slack_app:6113996590131, got %.64q",
		strings.Join(Methods, ", "), method)
}
