package render

import (
	"fmt"
	html "html/template"
	"regexp"
	"strings"
)

// Markup is text in the markup of one target, ready to be sent. Only Template.Render, Target.Escape and Target.Link
// make it of what people or programs wrote, so that what was not escaped cannot be sent.
type Markup string

// Target is a kind of place that messages go to: it knows the markup there, and how a text is written so that the
// reader sees that text and nothing else.
type Target struct {
	name    string
	escape  func(line string, address func(string) string) string // a line of text, and addresses in it; nil: the text is plain
	oneLine bool                                                  // line breaks become spaces
	opens   []string                                              // what a template writes before an address
	closes  string                                                // characters that end a link
	labels  string                                                // characters that end an address before the text of its link
	href    string                                                // characters of an address that must be written as %XX, besides those of every target
	amp     string                                                // how & is written; empty: as it is
	strong  string                                                // on both sides of strong text
	link    func(text, url string) string
	mention func(id string) string
}

// The targets.
var (
	// Plain is text without markup: Zoom, ntfy, and the text of a mail.
	Plain = &Target{name: "plain"}
	// Short is one line of plain text: text messages and calls.
	Short = &Target{name: "short", oneLine: true}
	// HTML is a mail. The library escapes for where a value stands.
	HTML = &Target{name: "html"}
	// Slack is mrkdwn. It has no escape but for & < >; what else could be formatting is replaced by a character that
	// looks like it. (docs.slack.dev/messaging/formatting-message-text)
	Slack = &Target{name: "slack", escape: slackText, opens: []string{"<"}, closes: ">", labels: "|", href: "|", amp: "&amp;", strong: "*",
		link:    func(text, url string) string { return "<" + url + "|" + text + ">" },
		mention: matching(`^[UW][A-Z0-9]{2,20}$`, "<@%s>")}
	// Discord is Markdown with backslashes. (discord.com: Markdown Text 101)
	Discord = &Target{name: "discord", escape: discordText, opens: []string{"](", "<"}, closes: ")>", strong: "**",
		link: markdownLink, mention: matching(`^\d{1,20}$`, "<@%s>")}
	// Loose is the Markdown of DingTalk, which promises no escape at all: what could be markup is replaced by
	// characters that look like it.
	Loose = &Target{name: "loose", escape: looseText, opens: []string{"](", "<"}, closes: ")>", href: ";", strong: "**", link: markdownLink}
	// WeCom is Loose with mentions.
	WeCom = &Target{name: "wecom", escape: looseText, opens: []string{"](", "<"}, closes: ")>", href: ";", strong: "**", link: markdownLink,
		mention: matching(`^[A-Za-z0-9][\w.-]{0,63}$`, "<@%s>")}
	// Rich is strong text and links that senders take apart with Spans, for services that are sent elements: Feishu,
	// and Teams, whose Markdown has escapes that its clients do not agree about.
	Rich = &Target{name: "rich", escape: richText, opens: []string{"]("}, closes: ")", strong: "**", link: markdownLink}
	// Telegram is plain, as no parse_mode is set, but for mentions, which Telegram finds by itself.
	Telegram = &Target{name: "telegram", escape: telegramText, mention: matching(`^[A-Za-z]\w{3,31}$`, "@%s")}
)

// targets are those of each kind of template and each way.
var targets = map[string]*Target{
	"email": HTML, "sms": Short, "voice": Short, "plain": Plain, "zoom": Plain, "ntfy": Plain, "webhook": Plain, "telegram": Telegram,
	"slack": Slack, "slack_app": Slack, "discord": Discord, "dingtalk": Loose, "dingtalk_app": Loose, "wecom": WeCom, "wecom_app": WeCom,
	"feishu": Rich, "feishu_app": Rich, "teams": Rich, "teams_app": Rich,
}

// For returns the target of a kind of message, such as slack_app; known is false of one that has none, whose target
// is Short: no markup and no lines.
func For(kind string) (t *Target, known bool) {
	if t, known = targets[kind]; known {
		return t, true
	}
	return Short, false
}

// Escape returns a text as the target writes it: its reader sees the text, and no link, mention or formatting.
// Lines after the first begin with a bar, so that they cannot be taken for lines of the message itself.
func (t *Target) Escape(s string) Markup { return Markup(t.text(Clean(s))) }

// Link returns a link with a text; one that is no http or https address is only its text.
func (t *Target) Link(text, url string) Markup { return Markup(t.linked(Clean(text), Clean(url))) }

func (t *Target) linked(text, url string) string {
	text = t.label(text)
	switch {
	case !isURL.MatchString(url):
		return text
	case t.link == nil:
		return strings.TrimSpace(text + " " + t.address(url))
	case text == "":
		text = "link"
	}
	return t.link(text, t.address(url))
}

// label escapes a text of one line within markup, in which no address is one.
func (t *Target) label(s string) string {
	if s = OneLine(s); t.escape != nil {
		s = t.escape(s, nil)
	}
	return s
}

// text escapes a text that was cleaned.
func (t *Target) text(s string) string {
	if t.oneLine {
		return strings.Join(strings.Fields(s), " ")
	}
	if !strings.Contains(s, "\n") && t.escape == nil {
		return s
	}
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n│ ")
		}
		if t.escape != nil {
			line = t.escape(line, t.address)
		}
		b.WriteString(line)
	}
	return b.String()
}

// functions are those that write markup of the target. Their results are not escaped again.
func (t *Target) functions(b *budget) map[string]any {
	mark := func(s string) (any, error) {
		if s, err := b.made(s); err != nil {
			return nil, err
		} else if t == HTML {
			return html.HTML(s), nil
		}
		return Markup(s), nil
	}
	if t == HTML {
		escape := html.HTMLEscapeString
		return map[string]any{
			"strong": func(s string) (any, error) { return mark("<strong>" + escape(s) + "</strong>") },
			"link": func(text, url string) (any, error) {
				if !isURL.MatchString(url) {
					return mark(escape(text))
				}
				return mark(`<a href="` + escape(url) + `">` + escape(text) + "</a>")
			},
			"mention": func(s string) (any, error) { return mark(escape(s)) },
		}
	}
	return map[string]any{
		"strong": func(s string) (any, error) {
			if s = t.label(s); s == "" {
				return mark("")
			}
			return mark(t.strong + s + t.strong)
		},
		"link": func(text, url string) (any, error) { return mark(t.linked(text, url)) },
		"mention": func(id string) (any, error) {
			if t.mention != nil && !everybody[strings.ToLower(id)] {
				if s := t.mention(id); s != "" {
					return mark(s)
				}
			}
			return mark(t.label(id))
		},
		escapeText:  func(v any) (string, error) { return b.escaped(t.text, v) },
		escapeURL:   func(v any) (string, error) { return b.escaped(t.address, v) },
		escapeLabel: func(v any) (string, error) { return b.escaped(t.label, v) },
		escapePart:  func(v any) (string, error) { return b.escaped(t.part, v) },
	}
}

// escaped writes a value and escapes it, unless a function of the target wrote it.
func (b *budget) escaped(escape func(string) string, v any) (string, error) {
	switch v := v.(type) {
	case Markup:
		return string(v), nil
	case nil:
		return "", nil
	case string:
		return b.made(escape(v))
	}
	if _, err := b.read([]any{v}); err != nil {
		return "", err
	}
	return b.made(escape(fmt.Sprint(v)))
}

// everybody are the names by which services call all members of a chat.
var everybody = map[string]bool{"all": true, "everyone": true, "here": true, "channel": true, "group": true}

// matching writes an id of a form into a format, and nothing for another id.
func matching(form, format string) func(string) string {
	is := regexp.MustCompile(form)
	return func(id string) string {
		if !is.MatchString(id) {
			return ""
		}
		return fmt.Sprintf(format, id)
	}
}

func markdownLink(text, url string) string { return "[" + text + "](" + url + ")" }
