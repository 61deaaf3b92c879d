package render

import (
	"cmp"
	"fmt"
	html "html/template"
	"regexp"
	"strings"
	"sync"

	"tocsin/internal/core/event"
)

// Markup is text in the markup of one target, ready to be sent. Only Template.Render, Target.Escape and Target.Link
// turn the text of people or programs into Markup, so that text cannot be sent without being escaped.
type Markup string

// Target is a kind of receiver of messages. It knows the markup there, and how to escape a text so that the reader
// sees exactly that text.
type Target struct {
	name    string
	oneLine bool     // line breaks become spaces
	opens   []string // what a template writes before an address
	closes  string   // characters that end a link
	labels  string   // characters that end an address before the text of its link
	href    string   // characters of an address that become %XX, besides those of every target
	amp     string   // how & is written; empty: as it is
	strong  string   // on both sides of strong text
	tidy    bool     // lines without text are removed

	colours map[string]string // by severity, for <font color>; nil: there are no colours

	// escape escapes a line of text, and addresses in it with address; nil: the text is plain.
	escape  func(line string, address func(string) string) string
	link    func(text, url string) string
	mention func(id string) string
}

// The targets.
var (
	// Plain is text without markup: Zoom, ntfy, and the text of a mail.
	Plain = &Target{name: "plain"}
	// Short is one line of plain text: text messages and calls.
	Short = &Target{name: "short", oneLine: true}
	// HTML is a mail. The library escapes values for their position; escape is for markup that functions write.
	HTML = &Target{
		name: "html", escape: func(line string, _ func(string) string) string { return html.HTMLEscapeString(line) },
		link: func(text, url string) string { return `<a href="` + url + `">` + text + "</a>" }, amp: "&amp;",
	}
	// Slack is mrkdwn. It has no escape but for & < >; what else could be formatting is replaced by a character that
	// looks like it, see docs.slack.dev/messaging/formatting-message-text.
	Slack = &Target{
		name: "slack", escape: slackText,
		opens: []string{"<"}, closes: ">", labels: "|", href: "|", amp: "&amp;", strong: "*",
		link:    func(text, url string) string { return "<" + url + "|" + text + ">" },
		mention: matching(`^[UW][A-Z0-9]{2,20}$`, "<@%s>"),
	}
	// Discord is Markdown with backslashes, see "Markdown Text 101" on discord.com.
	Discord = &Target{
		name: "discord", escape: discordText,
		opens: []string{"](", "<"}, closes: ")>", strong: "**",
		link: markdownLink, mention: matching(`^\d{1,20}$`, "<@%s>"),
	}
	// Loose is the Markdown of DingTalk, which documents no escape: what could be markup is replaced by characters that
	// look like it.
	Loose = &Target{
		name: "loose", escape: looseText,
		opens: []string{"](", "<"}, closes: ")>", href: ";", strong: "**",
		link: markdownLink, colours: publicColours,
	}
	// WeCom is Loose with mentions.
	WeCom = &Target{
		name: "wecom", escape: looseText,
		opens: []string{"](", "<"}, closes: ")>", href: ";", strong: "**",
		link: markdownLink, mention: matching(`^[A-Za-z0-9][\w.-]{0,63}$`, "<@%s>"),
		colours: wecomColours,
	}
	// Rich is strong text and links, which senders parse with Spans. It is for services that receive elements: Feishu,
	// and Teams, whose clients differ in the escapes of Markdown.
	Rich = &Target{name: "rich", escape: richText, opens: []string{"]("}, closes: ")", strong: "**", link: markdownLink}
	// Telegram is plain, as no parse_mode is set, except for mentions, which Telegram detects.
	Telegram = &Target{name: "telegram", escape: telegramText, mention: matching(`^[A-Za-z]\w{3,31}$`, "@%s")}
)

// targets maps each kind of template and each method to its target.
var targets = map[string]*Target{
	"email": HTML, "sms": Short, "voice": Short, "plain": Plain, "zoom": Plain, "ntfy": Plain, "webhook": Plain, "push": Plain,
	"telegram": Telegram,
	"slack":    Slack, "slack_app": tidied(Slack), "discord": Discord,
	"dingtalk": Loose, "dingtalk_app": tidied(Loose), "wecom": WeCom, "wecom_app": WeCom,
	"feishu": Rich, "feishu_app": tidied(Rich), "teams": Rich, "teams_app": tidied(Rich),
}

// tidied returns a target for messages whose lines without text are removed, as templates of apps expect: they have a line
// for each label that an incident may have.
func tidied(t *Target) *Target {
	tidy := *t
	tidy.tidy = true
	return &tidy
}

// For returns the target of a kind of message, such as slack_app. known is false for an unknown kind, whose target is
// Short: no markup and one line.
func For(kind string) (t *Target, known bool) {
	t, known = targets[kind]
	if known {
		return t, true
	}
	return Short, false
}

// Escape returns a text in the markup of the target: the reader sees the text, and no link, mention or formatting.
// Lines after the first begin with a bar, so that they cannot look like lines of the message itself.
func (t *Target) Escape(s string) Markup { return Markup(t.text(Clean(s))) }

// Link returns a link with a text. If url is no http or https address it returns only the text.
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

// label escapes a text of one line within markup, such as the text of a link. Addresses in it are plain text.
func (t *Target) label(s string) string {
	s = OneLine(s)
	if t.escape != nil {
		s = t.escape(s, nil)
	}
	return s
}

// text escapes a cleaned text.
func (t *Target) text(s string) string {
	if t.oneLine {
		return strings.Join(strings.Fields(s), " ")
	}
	if !strings.Contains(s, "\n") && t.escape == nil {
		return s
	}
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
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

// functions returns the functions that write markup of the target. Their results are not escaped again.
func (t *Target) functions(b *budget) map[string]any {
	// mark takes what write reads from the budget too: long texts may be escaped to short ones.
	mark := func(write func() string, reads ...string) (any, error) {
		n := 0
		for _, s := range reads {
			n += len(s)
		}
		if err := b.take(n); err != nil {
			return nil, err
		}
		s, err := b.made(write())
		if t == HTML {
			return html.HTML(s), err
		}
		return Markup(s), err
	}
	return map[string]any{
		"strong": func(s string) (any, error) { return mark(func() string { return t.strongText(s) }, s) },
		"link": func(text, url string) (any, error) {
			return mark(func() string { return t.linked(text, url) }, text, url)
		},
		"mention": func(id string) (any, error) { return mark(func() string { return t.mentioned(id) }, id) },

		"toHtml":     func(values ...any) any { return fallback(coalesce(values...), "") },
		"fireReason": func(of any) (any, error) { return mark(func() string { return fireReason(of) }) },
		"colorSeverity": func(severity string) (any, error) {
			return mark(func() string { return t.coloured(severity, severity) }, severity)
		},
		"colorBySeverity": func(severity, text string) (any, error) {
			return mark(func() string { return t.coloured(severity, text) }, text)
		},
		"serverityToColor": func(severity string) (any, error) {
			return mark(func() string { return cmp.Or(publicColours[severity], publicColours[event.Ok]) })
		},
		"mdToHtml": func(text string) (any, error) {
			if t == HTML {
				return b.mdToHTML(text)
			}
			return text, nil
		},

		metered:     b.metered,
		escapeText:  func(v any) (string, error) { return b.escaped(t.text, v) },
		escapeURL:   func(v any) (string, error) { return b.escaped(t.address, v) },
		escapeLabel: func(v any) (string, error) { return b.escaped(t.label, v) },
		escapePart:  func(v any) (string, error) { return b.escaped(t.part, v) },
	}
}

// strongText returns a text of one line as strong text.
func (t *Target) strongText(s string) string {
	switch s = t.label(s); {
	case s == "":
		return ""
	case t == HTML:
		return "<strong>" + s + "</strong>"
	}
	return t.strong + s + t.strong
}

// mentioned returns a mention of a person of the service; the id as text where there is none of this form.
func (t *Target) mentioned(id string) string {
	if t.mention != nil && !mentionAll[strings.ToLower(id)] {
		if s := t.mention(id); s != "" {
			return s
		}
	}
	return t.label(id)
}

// escaped prints a value and escapes it, unless it is Markup, which a function of the target wrote.
func (b *budget) escaped(escape func(string) string, v any) (string, error) {
	switch v := v.(type) {
	case Markup:
		return string(v), nil
	case nil:
		return "", nil
	case string:
		if err := b.take(len(v)); err != nil { // it may be escaped to a shorter text
			return "", err
		}
		return b.made(escape(Clean(v)))
	}
	if _, err := b.read([]any{v}); err != nil {
		return "", err
	}
	return b.made(escape(Clean(fmt.Sprint(v))))
}

// metered returns a value that is printed, and takes its length from the budget.
func (b *budget) metered(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return v, b.take(len(v))
	case html.HTML:
		return v, b.take(len(v))
	case nil:
		return v, nil
	}
	_, err := b.read([]any{v})
	return v, err
}

// mentionAll are the names by which services mention all members of a chat.
var mentionAll = map[string]bool{"all": true, "everyone": true, "here": true, "channel": true, "group": true}

// matching returns a function that formats an id that matches form; another id becomes an empty text.
func matching(form, format string) func(string) string {
	is := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(form) })
	return func(id string) string {
		if !is().MatchString(id) {
			return ""
		}
		return fmt.Sprintf(format, id)
	}
}

func markdownLink(text, url string) string { return "[" + text + "](" + url + ")" }
