package warroom

import (
	"context"

	"tocsin/internal/api"
	"tocsin/internal/incident"
)

// AddRequest names a war room and the persons to add.
type AddRequest struct {
	ChatRequest
	MemberIDs []int64 `json:"member_ids" minItems:"1" maxItems:"100" doc:"The persons to add, 1 to 100."`
}

// add adds persons to a group at the service.
func (r *Service) add(c *api.Call, in AddRequest) (a openResult, err error) {
	err = c.Write(func() error {
		a.Record, a.incident, err = in.permit(c)
		if err != nil {
			return err
		}
		_, a.service, err = r.app(c, in.IntegrationID)
		if err != nil {
			return err
		}
		a.people, err = contactsOf(c.Tx, c.Who.AccountID, nil, in.MemberIDs)
		return err
	})
	if err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeout(c.Ctx, timeout)
	defer cancel()
	missing, err := a.service.AddMembers(ctx, r.Out, a.ChatID, a.people)
	if err != nil {
		return a, failed(a.PluginType, err, missing)
	}
	if len(missing) > 0 {
		a.warnings = []string{a.PluginType + ": " + missingText(missing)}
	}
	return a, nil
}

// added records the addition in the audit log.
func (r *Service) added(c *api.Call, a openResult) (api.Warnings, error) {
	c.Touched("war_room", a.ChatID, a.ChatName)
	return api.Warn(a.warnings), incident.Touched(c, &a.incident)
}
