package ingest

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/core/sentence"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/moved"
	"tocsin/internal/source"
)

// pushMethods are the methods of addresses that events are sent to. Grafana's webhooks may be set to PUT.
var pushMethods = []string{http.MethodPost, http.MethodPut}

// Alerts accepts the events of alerts: POST or PUT /event/push/alert/SOURCE?integration_key=KEY.
func (r *Service) Alerts() api.Endpoint {
	return api.Endpoint{Path: "/event/push/alert", Methods: pushMethods, MaxBody: r.MaxBytes, Do: r.alerts}
}

// Taken is the reply: the alerts that were accepted, and those that were not.
type Taken struct {
	AlertKey  string           `json:"alert_key,omitzero" doc:"The key of the alert, if only one was accepted."`
	Events    []Receipt        `json:"events" doc:"The accepted alerts, in the order in which they were sent."`
	Refused   []source.Refused `json:"refused,omitzero" doc:"The rejected alerts, and why; the others were accepted all the same."`
	Truncated int64            `json:"truncated,omitzero" doc:"How many alerts the sender left out of the request, by its own count."`
}

// Receipt is an event that was accepted.
type Receipt struct {
	EventID  string `json:"event_id" doc:"24 hexadecimal digits, for /alert/explain."`
	AlertKey string `json:"alert_key" doc:"The alert it belongs to."`
}

// alerts handles a push of alerts.
func (r *Service) alerts(c *api.Call, req *http.Request, header http.Header, body *api.Body) (any, error) {
	name := req.PathValue("source")
	if _, ok := parsers[name]; !ok {
		return nil, fault.New(fault.RouteNotFound, "there is no source %q; there are %s", shownSource(name), strings.Join(names(), ", "))
	}
	key := keyOf(req)
	if name == pagerDuty {
		return r.pagerDuty(c, key, header, body)
	}
	taken, _, err := r.push(c, pushed{source: name, key: key}, header, body)
	return taken, err
}

// pushed is what is known of a push of alerts before its integration is.
type pushed struct {
	source string // a name among parsers
	key    string
	text   []byte // the body, if it was read to find the key
}

// push takes the alerts of a request, and returns the reply and what was read. What is refused of a known integration is
// counted.
func (r *Service) push(c *api.Call, p pushed, header http.Header, body *api.Body) (*Taken, []byte, error) {
	i, err := r.integration(c, p.key, header)
	if err != nil {
		return nil, nil, err
	}
	if !i.IsSource() || i.IntegrationType == integration.Change || i.IntegrationType == integration.Heartbeat {
		err := fault.Invalid("integration_key", "belongs to an integration of type %s, which takes no alerts", i.IntegrationType)
		return nil, nil, r.refuse(i, integration.WrongKey, err)
	}
	if err := r.tooMuch(c, i, integration.EndsRefusedAt, header); err != nil { // before the body is read
		return nil, nil, err
	}
	text, cut := p.text, false
	if text == nil {
		text, cut, err = body.ReadStart(i.AccountID, i.IntegrationID)
		if err != nil {
			return nil, nil, r.refuse(i, "", err)
		}
	}
	var batch source.Batch
	err = r.compute(c.Ctx, i.AccountID, i.IntegrationID, func() (err error) {
		batch, err = parsers[p.source](source.Request{Body: text, Cut: cut, At: c.Now, MaxAlerts: r.MaxAlerts, Severities: i.Severities()})
		return err
	})
	if cut && (err != nil || !batch.List) {
		err = body.Over()
	}
	if err != nil {
		r.taken.WithLabelValues(p.source, "refused").Inc()
		return nil, nil, r.refuse(i, "", err)
	}
	if err := r.onlyEnds(c, i, header, &batch); err != nil {
		return nil, nil, err
	}
	taken, err := r.take(c, i, p.source, batch)
	return taken, text, err
}

// take stores the events of a request and counts those that it does not have.
func (r *Service) take(c *api.Call, i integration.Integration, name string, batch source.Batch) (*Taken, error) {
	r.refuseSome(i, name, batch)
	if len(batch.Events) == 0 && len(batch.Refused) > 0 {
		first := batch.Refused[0]
		return nil, fault.Invalid(first.Field, "%s; none of the %d alerts could be taken", first.Message, len(batch.Refused))
	}
	r.shorten(i, batch.Events, c.Now)
	if err := r.Put(c.Ctx, i.AccountID, i.IntegrationID, batch.Events, c.Now); err != nil {
		return nil, r.afterMove(c.Ctx, i.AccountID, err)
	}
	r.taken.WithLabelValues(name, "taken").Add(float64(len(batch.Events)))
	r.unknown.add(i, batch.Events)
	reply := &Taken{Events: make([]Receipt, len(batch.Events)), Refused: batch.Refused, Truncated: batch.Truncated}
	for n, e := range batch.Events {
		reply.Events[n] = Receipt{e.ID, e.AlertKey}
	}
	if len(reply.Events) == 1 {
		reply.AlertKey = reply.Events[0].AlertKey
	}
	return reply, nil
}

// shownSource returns the name of an unknown source up to the first character that no source has: a key may follow.
func shownSource(name string) string {
	if i := strings.IndexFunc(name, func(r rune) bool { return r < 'a' || r > 'z' }); i >= 0 {
		name = name[:i] + "..."
	}
	if len(name) > 20 {
		name = name[:20] + "..."
	}
	return name
}

// afterMove returns the error for events that could not be stored. Those of an account that was moved to another database
// a moment ago, while its key was still cached, are to be sent again.
func (r *Service) afterMove(ctx context.Context, account int64, failed error) error {
	gone := false
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		_, gone, err = moved.Find(tx, account)
		return err
	})
	if err != nil || !gone {
		return failed
	}
	return fault.New(fault.Unavailable, "the account of this key has moved to another server")
}

// integration returns the enabled integration of a key, within its rate limit. The account may not be known before: the
// key is the only credential.
func (r *Service) integration(c *api.Call, key string, header http.Header) (i integration.Integration, err error) {
	if key == "" {
		return i, fault.Invalid("integration_key", "is required, in the address, as in ?integration_key=KEY")
	}
	k, err := r.find(c.Ctx, key, c.Now)
	if err != nil {
		return i, err
	}
	if !k.found {
		if err := r.Guesses.Guessed(c); err != nil {
			return i, err
		}
		return i, fault.Invalid("integration_key", "integration_key is not a valid one")
	}
	i = k.integration.Integration
	c.Who.AccountID = i.AccountID // for the log
	counted := i.IntegrationID
	if !k.usable() { // senders with an old key must not use up the limit of the others
		counted = -counted
	}
	if v := r.rates.Allow(counted, r.Rate, c.Now); !v.OK {
		return i, r.refuse(i, integration.Rate, api.Limited(header, v, "this integration"))
	}
	switch {
	case k.integration.Expired:
		err := fault.Invalid("integration_key", "integration_key is not a valid one: it was replaced")
		return i, r.refuse(i, integration.WrongKey, err)
	case i.Status != "enabled":
		return i, r.refuse(i, integration.Disabled, fault.Invalid("integration_key", "belongs to an integration that is disabled"))
	}
	return i, nil
}

// refuse counts a request of a known integration that is refused with an error, and returns the error. reason is empty
// if the error's kind is the reason. Errors of the server itself are not counted.
func (r *Service) refuse(i integration.Integration, reason string, err error) error {
	if reason == "" {
		switch fault.KindOf(err) {
		case fault.TooLarge:
			reason = integration.TooLarge
		case fault.Unavailable:
			reason = integration.Busy
		case fault.InvalidParameter, fault.BadRequest:
			reason = integration.Malformed
		default:
			return err
		}
	}
	detail := err.Error()
	if f := new(fault.Error); errors.As(err, &f) {
		detail = strings.TrimPrefix(f.Field+": "+f.Message, ": ")
	}
	r.refused.add(i, reason, 1, sentence.Raw(detail))
	return err
}

// reasons are the reasons as the integration's page counts them.
var reasons = map[source.Reason]string{
	source.Malformed: integration.Malformed, source.TooMany: integration.TooMany, source.TooLarge: integration.TooLarge,
	source.TooMuch: integration.TooMuch,
}

// refuseSome counts the alerts that a request held and that are refused, and those that it did not hold.
func (r *Service) refuseSome(i integration.Integration, name string, batch source.Batch) {
	for _, each := range batch.Refused {
		n := int64(max(each.Count, 1))
		reason := reasons[each.Reason]
		r.taken.WithLabelValues(name, "refused").Add(float64(n))
		r.refused.add(i, reason, n, sentence.Raw(each.Field+": "+each.Message))
	}
	if batch.Truncated > 0 {
		sent := int64(len(batch.Events) + len(batch.Refused))
		r.refused.add(i, integration.Truncated, batch.Truncated,
			sentence.New("sender_left_out", integration.Count(sent), integration.Count(sent+batch.Truncated)))
	}
}
