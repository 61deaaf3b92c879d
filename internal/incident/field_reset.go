package incident

import (
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/field"
	"tocsin/internal/platform/fault"
)

// FieldResetRequest changes the value of a custom field.
type FieldResetRequest struct {
	OneRequest
	FieldName  string         `json:"field_name" minLength:"1" maxLength:"40" doc:"The custom field."`
	FieldValue jsontext.Value `json:"field_value" doc:"Its new value, of the field's type; null: none."`
}

func (r *Service) resetField(c *api.Call, in FieldResetRequest) (api.Empty, error) {
	all, err := field.Kind.All(c.Tx, c.Who.AccountID)
	if err != nil {
		return api.Empty{}, err
	}
	for _, f := range all {
		if f.FieldName != in.FieldName {
			continue
		}
		if err := f.Admits(in.FieldValue); err != nil {
			return api.Empty{}, err
		}
		return r.each(c, []string{in.IncidentID}, func(d Writer, i *Incident) error {
			from := i.Fields[in.FieldName]
			if i.Fields == nil {
				i.Fields = map[string]jsontext.Value{}
			}
			i.Fields[in.FieldName] = in.FieldValue
			if in.FieldValue.Kind() == 'n' {
				delete(i.Fields, in.FieldName)
			}
			if err := d.save(i); err != nil {
				return err
			}
			return d.publish(i, activity.FieldChanged{FieldName: in.FieldName, From: from, To: in.FieldValue})
		})
	}
	return api.Empty{}, fault.Invalid("field_name", "names a custom field that does not exist, %.60q", in.FieldName)
}
