package page

import (
	"cmp"

	"tocsin/internal/integration"
)

// productNames are the types of integrations that are named for a product, which is the same in every language.
var productNames = map[string]string{
	"prometheus": "Prometheus", "grafana": "Grafana", "pagerduty": "PagerDuty", "zabbix": "Zabbix", "sentry": "Sentry",
	integration.SlackApp: "Slack", integration.FeishuApp: "Feishu / Lark", integration.DingTalkApp: "DingTalk",
	integration.WeComApp: "WeCom", integration.TeamsApp: "Microsoft Teams",
}

// IntegrationType names a type of integrations.
func (v *Visit) IntegrationType(kind string) string {
	switch kind {
	case "standard":
		return v.T("Standard events")
	case integration.Heartbeat:
		return v.T("Heartbeat")
	case integration.Change:
		return v.T("Changes")
	case integration.WebhookIncident:
		return v.T("Webhook of incidents")
	case integration.WebhookAlert:
		return v.T("Webhook of alerts")
	case integration.Monitors:
		return v.T("Alert rules")
	}
	return cmp.Or(productNames[kind], kind)
}
