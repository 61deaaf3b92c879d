package nodes

import (
	"encoding/json"
	"fmt"
)

// Channels is how many channels the account has, each with an integration, a rule and a person who is on call.
const Channels = 8

// AppKey is the key of the account's owner.
const AppKey = "owner-key-of-the-nodes-0123456789"

// The numbers of the account.
const (
	account      = 1
	firstPerson  = 100
	firstChannel = 200
	firstSource  = 300
	alertHook    = 401
	incidentHook = 402
)

func integrationKey(channel int) string {
	return fmt.Sprintf("key-of-source-%02d-0123456789abcdef", channel)
}

// accountFile returns the account. In every second channel the alerts of a service share an incident. Alerts change too
// often for the settings against flapping, which are off.
func accountFile(receivers string) []byte {
	type object = map[string]any
	var persons, channels, integrations, rules []object
	sms := []string{"sms"}
	for i := range Channels {
		persons = append(persons, object{"person_id": firstPerson + i, "person_name": fmt.Sprint("Person ", i),
			"email": fmt.Sprintf("p%d@example.com", i), "phone": fmt.Sprintf("+155501%02d", i)})
		group := object{"method": "n"}
		if i%2 == 1 {
			group = object{"method": "p", "equals": [][]string{{"labels.service"}}}
		}
		channels = append(channels, object{"channel_id": firstChannel + i, "channel_name": fmt.Sprint("Channel ", i),
			"group": group, "flapping": object{"is_disabled": true}})
		integrations = append(integrations, object{"integration_id": firstSource + i, "integration_name": fmt.Sprint("Source ", i),
			"integration_type": "standard", "channel_id": firstChannel + i, "integration_key": integrationKey(i)})
		rules = append(rules, object{"rule_id": fmt.Sprintf("%024x", 1000+i), "channel_id": firstChannel + i, "rule_name": "on call",
			"template_id": fmt.Sprintf("%024x", 1), "layers": []object{{"escalate_window": 720,
				"target": object{"person_ids": []int{firstPerson + i}, "by": object{"critical": sms, "warning": sms, "info": sms}}}}})
	}
	for id, kind := range map[int]string{alertHook: "webhook_alert", incidentHook: "webhook_incident"} {
		integrations = append(integrations, object{"integration_id": id, "integration_name": kind, "integration_type": kind,
			"settings": object{"endpoint": fmt.Sprint(receivers, "/hook/", id), "event_types": events[id]}})
	}
	text, err := json.Marshal(object{
		"format":  "tocsin.account/1",
		"account": object{"account_id": account, "account_name": "Nodes", "time_zone": "UTC", "owner_id": firstPerson},
		"persons": persons, "channels": channels, "integrations": integrations, "escalate_rules": rules,
		"app_keys": []object{{"name": "owner", "person_id": firstPerson, "app_key": AppKey}},
	})
	if err != nil {
		panic(err) // maps of texts and numbers
	}
	return text
}

// events are what the webhooks subscribe to.
var events = map[int][]string{alertHook: {"a_new", "a_close"}, incidentHook: {"i_new", "i_rslv", "i_ack"}}
