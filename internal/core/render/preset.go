package render

// Preset maps each kind of message to the template for accounts that have none of their own, in the order of
// docs/templates.md.
var Preset = map[string]string{
	"email": `<!doctype html><html><body style="font-family:sans-serif;color:#1b1b1b">
<p style="border-left:6px solid {{colour .Severity}};padding-left:12px;margin:0 0 16px">` +
		`<strong style="font-size:18px">{{if .Test}}[Drill] {{end}}{{.Title}}</strong><br>
{{.Severity}} · {{.Progress}}{{with .Channel}} · {{.}}{{end}}</p>
{{with .Description}}<p>{{.}}</p>{{end}}
<p>Since {{date .TimeZone .StartTime}}{{if gt .AlertCount 1}}, {{.AlertCount}} alerts{{end}}</p>
{{with .Labels}}<table>{{range $name, $value := .}}` +
		`<tr><td style="color:#666;padding-right:12px">{{$name}}</td><td>{{$value}}</td></tr>{{end}}</table>{{end}}
{{with .AckLink}}<p><a href="{{.}}" ` +
		`style="background:#1f6feb;color:#fff;padding:10px 18px;border-radius:6px;text-decoration:none">Acknowledge</a></p>{{end}}
{{with .Link}}<p><a href="{{.}}">Open the incident</a></p>{{end}}
{{with .Reason}}<p style="color:#666;font-size:13px">You are told because you are {{.}}.</p>{{end}}
</body></html>`,
	"sms": `{{if .Test}}[Drill] {{end}}{{.Severity}}: {{truncate 80 .Title}}{{with .Channel}} ({{.}}){{end}}` +
		`{{with .AckLink}} ack: {{.}}{{end}}`,
	"voice":        `{{if .Test}}This is a drill. {{end}}{{.Severity}} incident{{with .Channel}} in {{.}}{{end}}. {{truncate 200 .Title}}.`,
	"slack":        chat("*", "<{{.Link}}|open>", "<{{.AckLink}}|acknowledge>"),
	"slack_app":    chat("*", "<{{.Link}}|open>", "<{{.AckLink}}|acknowledge>"),
	"discord":      chat("**", "[open]({{.Link}})", "[acknowledge]({{.AckLink}})"),
	"teams":        chat("**", "[open]({{.Link}})", "[acknowledge]({{.AckLink}})"),
	"teams_app":    chat("**", "[open]({{.Link}})", "[acknowledge]({{.AckLink}})"),
	"feishu":       chat("**", "[open]({{.Link}})", "[acknowledge]({{.AckLink}})"),
	"feishu_app":   chat("**", "[open]({{.Link}})", "[acknowledge]({{.AckLink}})"),
	"dingtalk":     chat("**", "[open]({{.Link}})", "[acknowledge]({{.AckLink}})"),
	"dingtalk_app": chat("**", "[open]({{.Link}})", "[acknowledge]({{.AckLink}})"),
	"wecom":        chat("**", "[open]({{.Link}})", "[acknowledge]({{.AckLink}})"),
	"wecom_app":    chat("**", "[open]({{.Link}})", "[acknowledge]({{.AckLink}})"),
	"telegram":     chat("", "{{.Link}}", "acknowledge: {{.AckLink}}"),
	"zoom":         chat("", "{{.Link}}", "acknowledge: {{.AckLink}}"),
	"plain":        chat("", "{{.Link}}", "acknowledge: {{.AckLink}}"), // for those who read no HTML, and for ways without a text of their own
	"ntfy":         chat("", "{{.Link}}", "acknowledge: {{.AckLink}}"),
}

// chat is a short message with a strong title and links as the service writes them.
func chat(strong, link, ack string) string {
	return `{{emoji .Severity}} ` + strong + `{{if .Test}}[Drill] {{end}}{{.Title}}` + strong + `
{{.Severity}} · {{.Progress}}{{with .Channel}} · {{.}}{{end}} · since {{date .TimeZone .StartTime}}` +
		`{{if gt .AlertCount 1}} · {{.AlertCount}} alerts{{end}}
{{with .Description}}{{truncate 500 .}}
{{end}}{{range $name, $value := .Labels}}{{$name}}: {{$value}}
{{end}}{{if .Link}}` + link + ` {{end}}{{if .AckLink}}` + ack + `{{end}}`
}
