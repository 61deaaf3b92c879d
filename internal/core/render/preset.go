package render

import "strings"

// Preset maps each kind of message to the template for accounts that have none of their own, in the order of
// docs/templates.md.
var Preset = map[string]string{
	"email": email,
	"sms": `{{if .Test}}[Drill] {{end}}{{.State}} #{{.Num}}: {{with .Merged}}{{truncate 120 .}}. {{end}}{{truncate 120 .Problem}}` +
		`{{with .Channel}} ({{truncate 40 .}}){{end}}{{with .Question}}. {{.}}{{end}}` +
		`{{with .Note}}; {{.}}{{end}}{{with .AckLink}} ack: {{.}}{{end}}{{with .AnswerLink}} answer: {{.}}{{end}}` +
		`{{if not (or .AckLink .AnswerLink)}}{{with .Link}} open: {{.}}{{end}}{{end}}`,
	"voice": `{{if .Test}}This is a drill. {{end}}{{if eq .Event "i_r_severity"}}Now {{end}}{{.Severity}} incident` +
		`{{if .Reopened}}, open again,{{end}}{{with .Channel}} in {{truncate 40 .}}{{end}}. ` +
		`{{with .Merged}}{{truncate 150 .}}. {{end}}{{truncate 150 .Problem}}. {{with .Question}}{{.}}. {{end}}` +
		`{{with .Note}}It {{.}}. {{end}}I repeat: {{.Severity}}. {{truncate 150 .Problem}}. Number {{.SpokenNum}}.`,
	"slack":        chat("*"),
	"slack_app":    chat("*"),
	"discord":      chat("**"),
	"teams":        chat("**"),
	"teams_app":    chat("**"),
	"feishu":       chat("**"),
	"feishu_app":   chat("**"),
	"dingtalk":     chat("**"),
	"dingtalk_app": chat("**"),
	"wecom":        chat("**"),
	"wecom_app":    chat("**"),
	"telegram":     plain,
	"zoom":         plain,
	"plain":        plain, // for those who read no HTML, and for methods without a text of their own
	"ntfy":         plain,
}

// progress has the number of the incident, and describes how far people have come with it. A closed incident has its duration,
// and the person or cause that ended it. After a merge, source or target of the merge is named.
const progress = `#{{.Num}} · {{with .Merged}}{{.}}{{if not $.MergedInto}} · {{end}}{{end}}{{if .MergedInto}}` +
	`{{else if eq .Progress "Closed"}}Resolved{{with .EndedBy}} by {{.}}{{end}}{{with .Duration}} after {{duration .}}{{end}}` +
	`{{else}}{{.Progress}}{{with .AckedBy}} by {{.}}{{end}}{{end}}` +
	`{{with .Channel}} · {{.}}{{end}} · since {{date .TimeZone .StartTime}}` +
	`{{if gt .AlertCount 1}} · {{.AlertCount}} alerts{{if .Partial}} so far{{end}}{{end}}`

// others lists who else was notified and who is next, and why the reader is.
const others = `{{with .Note}}{{.}}
{{end}}{{with .Notified}}Notified: {{range $n, $who := .}}{{if $n}}, {{end}}{{$who}}{{end}}
{{end}}{{with .Next}}Next: {{.}}
{{end}}{{with .Why}}{{.}}
{{end}}`

// labels lists the labels that the alerts share, then how the others differ.
const labels = `{{range $name, $value := .Shared}}{{$name}}: {{truncate 300 $value}}
{{end}}{{range .Differ}}{{.Name}}: {{.Text}}
{{end}}`

// chat is a message with a strong first line. The links come next, because services cut long texts.
func chat(strong string) string {
	return `{{emoji .Look}} ` + strong + `{{.Subject}}` + strong + `
` + progress + `
{{with .Question}}{{.}}.
{{end}}{{if or .AckLink .AnswerLink .Link .Links}}{{with .AckLink}}{{link "acknowledge" .}}{{if or $.Link $.Links}} · {{end}}{{end}}` +
		`{{with .AnswerLink}}{{link "answer" .}}{{if or $.Link $.Links}} · {{end}}{{end}}` +
		`{{with .Link}}{{link "open" .}}{{if $.Links}} · {{end}}{{end}}` +
		`{{range $n, $l := .Links}}{{if $n}} · {{end}}{{link .Name .URL}}{{end}}
{{end}}{{with .Description}}{{truncate 500 .}}
{{end}}` + others + labels
}

// plain is chat without markup: every link is a line.
var plain = `{{emoji .Look}} {{.Subject}}
` + progress + `
{{with .Question}}{{.}}.
{{end}}{{with .AckLink}}acknowledge: {{.}}
{{end}}{{with .AnswerLink}}still on it, ask again in 4 hours, not again, or give it back: {{.}}
{{end}}{{with .Link}}open: {{.}}
{{end}}{{range .Links}}{{.Name}}: {{.URL}}
{{end}}{{with .Description}}{{truncate 500 .}}
{{end}}` + others + labels

// email is a mail for every width from 320 pixels, light and dark: it sets no colours but those of the state, the button
// and the borders, so that the mail program's own colours stay readable. It has no images.
var email = strings.NewReplacer("WRAP", "overflow-wrap:anywhere;word-break:break-word",
	"LINE", "border-top:1px solid #88888844", "\n", "").Replace(
	`<!doctype html>
<html lang="en" style="color-scheme:light dark"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"></head>
<body style="margin:0;padding:12px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;font-size:16px;line-height:1.45">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:640px;margin:0 auto;table-layout:fixed">
<tr><td style="border-left:6px solid {{colour .Look}};padding:2px 0 2px 12px;WRAP">
<span style="display:inline-block;background:{{colour .Look}};color:{{if eq .Look "Warning"}}#000000{{else}}#ffffff{{end}};` +
		`padding:1px 8px;border-radius:4px;font-size:14px;font-weight:bold">{{if .Test}}Drill: {{end}}{{.State}}</span>
<div style="font-size:21px;line-height:1.3;font-weight:bold;margin:6px 0">{{.Problem}}</div>
<div style="opacity:.75;font-size:14px">` + progress + `</div></td></tr>
{{with .AckLink}}<tr><td style="padding:16px 0 0"><a href="{{.}}" style="display:block;background:#1f6feb;color:#ffffff;` +
		`padding:13px 18px;border-radius:8px;text-align:center;text-decoration:none;font-weight:bold">Acknowledge</a></td></tr>{{end}}
{{with .Question}}<tr><td style="padding:16px 0 0;font-weight:bold;WRAP">{{.}}.</td></tr>{{end}}
{{with .AnswerLink}}<tr><td style="padding:16px 0 0"><a href="{{.}}" style="display:block;background:#1f6feb;color:#ffffff;` +
		`padding:13px 18px;border-radius:8px;text-align:center;text-decoration:none;font-weight:bold">` +
		`Still on it? Answer, or give it back</a></td></tr>{{end}}
{{if or .Link .Links}}<tr><td style="padding:14px 0 0;WRAP">
{{with .Link}}<a href="{{.}}" style="margin-right:14px">Open the incident</a> {{end}}
{{range .Links}}<a href="{{.URL}}" style="margin-right:14px">{{.Name}}</a> {{end}}</td></tr>{{end}}
{{with .Description}}<tr><td style="padding:14px 0 0;white-space:pre-line;WRAP">{{.}}</td></tr>{{end}}
{{if or .Note .Notified .Next .Why}}<tr><td style="padding:14px 0 0;font-size:14px;WRAP">
{{with .Note}}<div><strong>{{.}}</strong></div>{{end}}
{{with .Notified}}<div>Notified: {{range $n, $who := .}}{{if $n}}, {{end}}{{$who}}{{end}}</div>{{end}}
{{with .Next}}<div>Next: {{.}}</div>{{end}}
{{with .Why}}<div>{{.}}</div>{{end}}</td></tr>{{end}}
{{if or .Shared .Differ}}<tr><td style="padding:14px 0 0">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="table-layout:fixed;font-size:14px">
{{range $name, $value := .Shared}}<tr>
<td width="34%" valign="top" style="opacity:.75;padding:3px 10px 3px 0;LINE;WRAP">{{$name}}</td>
<td valign="top" style="padding:3px 0;LINE;WRAP">{{truncate 300 $value}}</td></tr>{{end}}
{{range .Differ}}<tr>
<td width="34%" valign="top" style="opacity:.75;padding:3px 10px 3px 0;LINE;WRAP">{{.Name}}</td>
<td valign="top" style="padding:3px 0;LINE;WRAP">{{.Text}}</td></tr>{{end}}
</table></td></tr>{{end}}
</table></body></html>`)
