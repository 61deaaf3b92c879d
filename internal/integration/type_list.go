package integration

import "tocsin/internal/api"

// Type is a type that an integration can have.
type Type struct {
	Type     string `json:"type" doc:"The value of integration_type."`
	Name     string `json:"name" doc:"What it is connected with, for people."`
	PushPath string `json:"push_path" doc:"The path to push events to, without the key of an integration; empty for a webhook or an app."`
}

// names has what people call each type.
var names = map[string]string{
	"standard": "Standard events", "prometheus": "Prometheus", "grafana": "Grafana", "pagerduty": "PagerDuty events", "zabbix": "Zabbix",
	"sentry": "Sentry", Heartbeat: "Heartbeat", Change: "Change events", WebhookIncident: "Webhook of incidents",
	WebhookAlert: "Webhook of alerts",
	SlackApp:     "Slack app", FeishuApp: "Feishu or Lark app", DingTalkApp: "DingTalk app", WeComApp: "WeCom app",
	TeamsApp: "Microsoft Teams app", Monitors: "Alert rules",
}

// typeList answers /integration/type/list.
func typeList(*api.Call, api.Empty) (api.Items[Type], error) {
	items := make([]Type, len(types))
	for n, kind := range types {
		i := Integration{IntegrationType: kind}
		items[n] = Type{kind, names[kind], i.pushPath()}
	}
	return api.Items[Type]{Items: items}, nil
}
