package webhook

import (
	"cmp"
	"strconv"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/integration"
	"tocsin/internal/platform/fault"
)

// EndpointDaysRequest asks for the attempts of each of the last days.
type EndpointDaysRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The webhook."`
	Days          int64 `json:"days,omitzero" minimum:"0" maximum:"31" doc:"So many days, the last of which is today; absent: 14."`
}

// EndpointDays is how many attempts to deliver to the endpoint of a webhook were made on each day.
type EndpointDays struct {
	Items []EndpointDay `json:"items" doc:"The days in the account's time zone, the oldest first, also those without attempts."`
}

// EndpointDay is how many attempts were made on a day.
type EndpointDay struct {
	StartTime int64 `json:"start_time" doc:"When the day begins, Unix seconds."`
	Succeeded int64 `json:"succeeded" doc:"Attempts that the endpoint accepted."`
	Failed    int64 `json:"failed" doc:"Attempts that failed."`
}

// endpointDays is POST /webhook/endpoint/days.
func (r *Service) endpointDays(c *api.Call, in EndpointDaysRequest) (reply EndpointDays, err error) {
	i, err := integration.Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10))
	switch {
	case err != nil:
		return reply, err
	case !i.IsWebhook():
		return reply, fault.Invalid("integration_id", "%d is a %s, not a webhook", in.IntegrationID, i.IntegrationType)
	}
	if err := readable(c, in.IntegrationID, 0); err != nil {
		return reply, err
	}
	reply.Items = []EndpointDay{}
	today := c.Now.In(c.Who.Zone)
	count := func(status string, from, to time.Time) (int64, error) {
		return filter{account: c.Who.AccountID, integration: in.IntegrationID, status: status}.
			total(c.Tx, window{from: from.UnixNano(), to: to.UnixNano()}, "")
	}
	for back := cmp.Or(in.Days, 14) - 1; back >= 0; back-- {
		from := time.Date(today.Year(), today.Month(), today.Day()-int(back), 0, 0, 0, 0, c.Who.Zone)
		to := time.Date(from.Year(), from.Month(), from.Day()+1, 0, 0, 0, 0, c.Who.Zone)
		day := EndpointDay{StartTime: from.Unix()}
		day.Succeeded, err = count("success", from, to)
		if err != nil {
			return reply, err
		}
		day.Failed, err = count("failed", from, to)
		if err != nil {
			return reply, err
		}
		reply.Items = append(reply.Items, day)
	}
	return reply, nil
}
