package channel

import (
	"net/http"
	"slices"
	"strings"

	"tocsin/deploy/zabbix"
	"tocsin/internal/console/page"
	integrations "tocsin/internal/integration"
)

// product is a program that can send to this server, as the gallery offers it.
type product struct {
	Key, Name string // the name is the same in every language, unless it is a text of the console
	Type      string // of the integration that receives from it
	About     string
}

// products returns the gallery. Several products of one type differ in their steps alone.
func products(v *page.Visit) []product {
	return []product{
		{"alertmanager", "Prometheus Alertmanager", "prometheus", v.T("Alerts of Prometheus, Mimir, Loki or VictoriaMetrics.")},
		{"grafana", "Grafana", "grafana", v.T("Alerts of Grafana's own rules.")},
		{"zabbix", "Zabbix", "zabbix", v.T("Problems of triggers, by a media type to import.")},
		{"sentry", "Sentry", "sentry", v.T("Issues, by an internal integration.")},
		{"pagerduty", v.T("Clients of PagerDuty"), "pagerduty", v.T("Whatever sends PagerDuty events, version 1 or 2.")},
		{"curl", v.T("curl or your own program"), "standard", v.T("One JSON object for each event.")},
		{"datadog", "Datadog", "standard", v.T("Monitors, by webhooks.")},
		{integrations.Heartbeat, v.T("Heartbeat"), integrations.Heartbeat, v.T("Raises an alert when a job or server stays silent.")},
		{integrations.Change, v.T("Changes"), integrations.Change, v.T("Releases and the like. They notify nobody.")},
	}
}

// productOf returns the product that the address names, else the first of a type; false: neither exists.
func productOf(v *page.Visit, kind string) (product, bool) {
	all := products(v)
	at := slices.IndexFunc(all, func(p product) bool { return p.Key == v.Query("product") && (kind == "" || p.Type == kind) })
	if at < 0 {
		at = slices.IndexFunc(all, func(p product) bool { return p.Type == kind })
	}
	if at < 0 {
		return product{}, false
	}
	return all[at], true
}

// galleryView is the choice of what sends to a new integration.
type galleryView struct {
	page.Titled
	Products []product
}

// Template names the template of the choice.
func (galleryView) Template() string { return "gallery" }

// recipe is the set-up of a product, so that it sends to an integration.
type recipe struct {
	Steps    []string
	Snippets []snippet
	File     string // the address of a file to download; empty: there is none
	FileText string
}

// snippet is a text to copy.
type snippet struct{ Title, Text string }

// target is where a product sends to. Key is the integration's key, or a word that stands for it.
type target struct{ Origin, Address, Key string }

// hiddenKey stands for the key of an integration until the reader asks for it.
const hiddenKey = "KEY"

// targetOf returns where an integration is sent to. Unless shown, its key is hidden.
func targetOf(v *page.Visit, i integrationRow, shown bool) target {
	to := target{Origin: v.Origin(), Address: v.Origin() + i.PushURL, Key: i.IntegrationKey}
	if !shown {
		to.Key = hiddenKey
		to.Address = strings.ReplaceAll(to.Address, i.IntegrationKey, hiddenKey)
	}
	return to
}

// recipes are the set-ups of the products, by their keys.
var recipes = map[string]func(*page.Visit, target) recipe{
	"alertmanager": func(v *page.Visit, to target) recipe {
		return recipe{
			Steps: []string{
				v.T("Add this receiver to alertmanager.yml."), v.T("Name the receiver in a route."), v.T("Reload Alertmanager."),
			},
			Snippets: []snippet{
				{"alertmanager.yml", "receivers:\n- name: tocsin\n  webhook_configs:\n  - url: " + pathOf(to) + "\n    send_resolved: true\n" +
					"    http_config:\n      authorization: {credentials: " + to.Key + "}\nroute:\n  receiver: tocsin\n"},
				{v.T("Try it"), curl(to.Address,
					`{"alerts": [{"status": "firing", "labels": {"alertname": "DiskFull", "severity": "warning", "service": "db"}}]}`)},
			},
		}
	},
	"grafana": func(v *page.Visit, to target) recipe {
		return recipe{
			Steps: []string{
				v.T("In Grafana, open Alerting › Contact points › Add contact point."), v.T("Choose the integration Webhook and enter this URL."),
				v.T("Press Test, then save."), v.T("Choose the contact point in a notification policy."),
			},
			Snippets: []snippet{
				{"URL", to.Address},
				{v.T("Or as a file for provisioning"), "apiVersion: 1\ncontactPoints:\n- orgId: 1\n  name: Tocsin\n  receivers:\n  - uid: tocsin\n" +
					"    type: webhook\n    settings:\n      url: " + to.Address + "\n"},
				{v.T("Try it"), curl(to.Address, `{"alerts": [{"status": "firing", "labels": {"alertname": "DiskFull", "service": "db"}}]}`)},
			},
		}
	},
	"zabbix": func(v *page.Visit, to target) recipe {
		return recipe{
			Steps: []string{
				v.T("Download the media type. It has the address of this server."), v.T("In Zabbix, open Alerts › Media types and import it."),
				v.T("Give a user this media. Send to is the key below."), v.T("Let the user read the hosts."),
				v.T("Add a trigger action that sends problems, recoveries and updates to this user."),
			},
			Snippets: []snippet{{"Send to", to.Key}, {v.T("Try it"), curl(to.Address,
				`{"event_id": "1", "event_name": "Disk is full", "event_value": "1", "event_nseverity": "4", "host_name": "db-1"}`)}},
			File: "zabbix.yaml", FileText: v.T("Download the media type"),
		}
	},
	"datadog": func(v *page.Visit, to target) recipe {
		return recipe{
			Steps: []string{
				v.T("In Datadog, open Integrations › Webhooks."), v.T("Make the webhooks tocsin-alert and tocsin-ok with this URL."),
				v.T("Enter the payload of each."), v.T("Add the last text to the message of a monitor."),
			},
			Snippets: []snippet{
				{"URL", to.Address},
				{v.T("Payload of tocsin-alert"), datadogPayload("Critical")}, {v.T("Payload of tocsin-ok"), datadogPayload("Ok")},
				{v.T("Text of the monitor"), "{{#is_alert}}@webhook-tocsin-alert{{/is_alert}}\n{{#is_recovery}}@webhook-tocsin-ok{{/is_recovery}}"},
			},
		}
	},
	"sentry": func(v *page.Visit, to target) recipe {
		return recipe{
			Steps: []string{
				v.T("In Sentry, open Settings › Developer Settings and create an internal integration."),
				v.T("Enter this webhook URL and switch Alert Rule Action on."), v.T("Give it Read on Issue & Event, and tick the webhook issue."),
				v.T("Let alert rules send a notification by this integration."),
			},
			Snippets: []snippet{{"Webhook URL", to.Address}, {v.T("Try it"), curl(to.Address,
				`{"action": "created", "data": {"issue": {"id": "1", "title": "TypeError in checkout", "level": "error"}}}`)}},
		}
	},
	"pagerduty": func(v *page.Visit, to target) recipe {
		return recipe{
			Steps: []string{
				v.T("Give the client this address as that of the events service."), v.T("Enter the key as its routing key or service key."),
			},
			Snippets: []snippet{
				{v.T("Address"), to.Origin}, {v.T("Where a whole address is asked for"), to.Origin + "/v2/enqueue"}, {"Routing key", to.Key},
				{v.T("Try it"), curl(to.Origin+"/v2/enqueue", `{"routing_key": "`+to.Key+`", "event_action": "trigger", "dedup_key": "disk-1", `+
					`"payload": {"summary": "Disk is full", "severity": "warning", "source": "db-1"}}`)},
			},
		}
	},
	"curl": func(v *page.Visit, to target) recipe {
		return recipe{
			Steps: []string{
				v.T("Send an event with the status Critical, Warning or Info."), v.T("Send the same key with the status Ok to end it."),
			},
			Snippets: []snippet{
				{v.T("From a command line"), curl(to.Address,
					`{"title_rule": "Disk is full", "event_status": "Warning", "alert_key": "disk-1", "labels": {"service": "db"}}`)},
				{v.T("End the alert"), curl(to.Address, `{"title_rule": "Disk is full", "event_status": "Ok", "alert_key": "disk-1"}`)},
			},
		}
	},
	integrations.Heartbeat: func(v *page.Visit, to target) recipe {
		return recipe{
			Steps: []string{v.T("Call this address more often than its interval."), v.T("The first call ends an alert that it raised.")},
			Snippets: []snippet{
				{v.T("After a job of cron"), "0 3 * * * backup.sh && curl -fsS -X POST '" + to.Address + "'"},
				{v.T("For the alert Watchdog of Alertmanager"), "receivers:\n- name: watchdog\n  webhook_configs:\n  - url: " + pathOf(to) +
					"\n    http_config:\n      authorization: {credentials: " + to.Key + "}\nroute:\n  routes:\n  - matchers: [alertname = Watchdog]\n" +
					"    receiver: watchdog\n    group_interval: 1m\n    repeat_interval: 1m\n"},
				{v.T("Try it"), "curl -X POST '" + to.Address + "'"},
			},
		}
	},
	integrations.Change: func(v *page.Visit, to target) recipe {
		return recipe{
			Steps: []string{v.T("Send a change when a release begins, and again when it ends.")},
			Snippets: []snippet{
				{v.T("It begins"), curl(to.Address, `{"title": "Release 42", "change_key": "release-42", "change_status": "Processing"}`)},
				{v.T("It ends"), curl(to.Address, `{"title": "Release 42", "change_key": "release-42", "change_status": "Done"}`)},
			},
		}
	},
}

// pathOf returns the address without the key, for programs that send it in a header.
func pathOf(to target) string {
	path, _, _ := strings.Cut(to.Address, "?")
	return path
}

// curl returns a command that posts a body of JSON to an address.
func curl(address, body string) string {
	return "curl '" + address + "' \\\n  -H 'Content-Type: application/json' \\\n  -d '" + body + "'"
}

// datadogPayload returns the payload of a webhook of Datadog, which fills in what begins with a dollar sign.
func datadogPayload(status string) string {
	return `{"title_rule": "$EVENT_TITLE", "event_status": "` + status + `", "alert_key": "$ALERT_CYCLE_KEY",` + "\n" +
		` "description": "$EVENT_MSG", "labels": {"monitor": "$ALERT_ID", "scope": "$ALERT_SCOPE", "link": "$LINK"}}`
}

// mediaType answers with the media type of Zabbix, in which the address of this server stands.
func mediaType(v *page.Visit) error {
	i, err := integration(v)
	if err != nil {
		return err
	}
	if i.IntegrationType != "zabbix" {
		return page.NotHere(v)
	}
	v.Writer.Header().Set("Content-Type", "application/yaml")
	v.Writer.Header().Set("Content-Disposition", `attachment; filename="tocsin.yaml"`)
	text := strings.ReplaceAll(zabbix.MediaType, zabbix.Address, v.Origin())
	return v.Frame.Send(v.Writer, v.Request, v.Who, http.StatusOK, []byte(text))
}
