package ingest

import (
	"cmp"
	"net/http"

	"tocsin/internal/api"
	"tocsin/internal/integration"
	"tocsin/internal/platform/fault"
	"tocsin/internal/source/pagerduty"
)

// pagerDuty is the name of the source among parsers, and the type of its integrations.
const pagerDuty = "pagerduty"

// maxPagerDuty is the limit of a body that contains its key, in bytes: the limit of PagerDuty's Events API, which its
// clients observe.
const maxPagerDuty = 512 << 10

// PagerDuty accepts what clients of PagerDuty's Events API send, at the paths that they add to the address of the service.
// The key of the integration is in the body.
func (r *Service) PagerDuty() map[string]api.Endpoint {
	endpoints := map[string]api.Endpoint{}
	for path, do := range map[string]func(c *api.Call, header http.Header, body *api.Body) (any, error){
		"/v2/enqueue":                           r.pagerDutyEvent,
		"/generic/2010-04-15/create_event.json": r.pagerDutyEvent, // version 1
		"/v2/change/enqueue":                    r.pagerDutyChange,
	} {
		endpoints[path] = api.Endpoint{
			Path: path, Methods: pushMethods, MaxBody: r.MaxBytes, Failed: pagerDutyFailed,
			Do: func(c *api.Call, _ *http.Request, header http.Header, body *api.Body) (any, error) {
				return do(c, header, body)
			},
		}
	}
	return endpoints
}

// pagerDutyReply is a reply of PagerDuty's Events API. Its clients need the status 202 and the word success, else they send
// again, and the key, with which they resolve. Of version 1 the key has another name.
type pagerDutyReply struct {
	Status      string   `json:"status"`
	Message     string   `json:"message"`
	DedupKey    string   `json:"dedup_key,omitzero"`
	IncidentKey string   `json:"incident_key,omitzero"`
	Errors      []string `json:"errors,omitzero"`
	RequestID   string   `json:"request_id"`
	Data        any      `json:"data,omitzero"` // as other sources reply
}

// pagerDutyFailed returns the reply to a request that is refused.
func pagerDutyFailed(requestID string, status int, message string) any {
	word := "invalid event"
	switch {
	case status == http.StatusTooManyRequests:
		word = "throttle exceeded"
	case status >= http.StatusInternalServerError:
		word = "internal error"
	}
	return pagerDutyReply{Status: word, Message: message, Errors: []string{message}, RequestID: requestID}
}

func (r *Service) pagerDutyEvent(c *api.Call, header http.Header, body *api.Body) (any, error) {
	return r.pagerDuty(c, "", header, body)
}

// pagerDuty takes an event of PagerDuty. Without a key the body has it.
func (r *Service) pagerDuty(c *api.Call, key string, header http.Header, body *api.Body) (any, error) {
	p := pushed{source: pagerDuty, key: key}
	if key == "" {
		text, err := body.ReadUnknown(maxPagerDuty)
		if err != nil {
			return nil, err
		}
		p.text, p.key = text, pagerduty.Key(text)
		if p.key == "" {
			return nil, noPagerDutyKey()
		}
	}
	taken, text, err := r.push(c, p, header, body)
	if err != nil {
		return nil, err
	}
	dedup := cmp.Or(taken.AlertKey, pagerduty.DedupKey(text)) // an acknowledgement is no event
	return &api.Answer{Status: http.StatusAccepted, Body: pagerDutyReply{
		Status: "success", Message: "Event processed", DedupKey: dedup, IncidentKey: dedup, RequestID: c.RequestID, Data: taken,
	}}, nil
}

// pagerDutyChange takes a change event of PagerDuty. There, one key is for alerts and changes, so integrations for either
// take it.
func (r *Service) pagerDutyChange(c *api.Call, header http.Header, body *api.Body) (any, error) {
	text, err := body.ReadUnknown(maxPagerDuty)
	if err != nil {
		return nil, err
	}
	key := pagerduty.Key(text)
	if key == "" {
		return nil, noPagerDutyKey()
	}
	i, err := r.integration(c, key, header)
	if err != nil {
		return nil, err
	}
	if i.IntegrationType != pagerDuty && i.IntegrationType != integration.Change {
		err := fault.Invalid("routing_key", "belongs to an integration of type %s: it must be pagerduty or change", i.IntegrationType)
		return nil, r.refuse(i, integration.WrongKey, err)
	}
	if err := r.tooMuch(c, i, integration.RefusedAt, header); err != nil {
		return nil, err
	}
	e, err := pagerduty.ParseChange(text, c.Now)
	if err != nil {
		return nil, r.refuse(i, "", err)
	}
	taken, err := r.putChange(c, i, e, len(text))
	return &api.Answer{Status: http.StatusAccepted, Body: pagerDutyReply{
		Status: "success", Message: "Change event processed", RequestID: c.RequestID, Data: taken,
	}}, err
}

func noPagerDutyKey() error {
	return fault.Invalid("routing_key", "is required: the key of an integration; service_key with version 1")
}
