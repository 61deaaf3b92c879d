package demo

import (
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/field"
)

// Names of the custom fields of incidents.
const (
	impactField   = "impact"
	customerField = "customers_affected"
	ticketField   = "ticket"
)

func fields(m moments) []field.Field {
	all := []field.Field{
		{
			FieldName: impactField, DisplayName: "Impact", Description: "What a customer cannot do.", FieldType: "single_select",
			ValueType: "string", Options: []jsontext.Value{[]byte(`"none"`), []byte(`"slow"`), []byte(`"no orders"`)},
			DefaultValue: []byte(`"none"`),
		},
		{
			FieldName: customerField, DisplayName: "Customers affected", Description: "Customers notice it.", FieldType: "checkbox",
			ValueType: "bool", DefaultValue: []byte(`false`),
		},
		{FieldName: ticketField, DisplayName: "Ticket", Description: "Of the carrier or provider.", FieldType: "text", ValueType: "string"},
	}
	for i := range all {
		f := &all[i]
		f.AccountID = accountID
		f.FieldID = object(kindField, i+1)
		f.Status = "enabled"
		f.CreatorID = anna
		f.UpdatedBy = zoe
		f.CreatedAt, f.UpdatedAt = m.yearAgo(i, 10).Unix(), m.ago(30*day).Unix()
	}
	return all
}

// fields returns the values that the custom fields of the trouble's incident have.
func (t trouble) fields() map[string]jsontext.Value {
	values := map[string]jsontext.Value{impactField: []byte(`"none"`), customerField: []byte(`false`)}
	switch t.channel {
	case payments, basket:
		values[impactField], values[customerField] = []byte(`"no orders"`), []byte(`true`)
	case shopFront, searching, apps:
		values[impactField], values[customerField] = []byte(`"slow"`), []byte(`true`)
	case shipping:
		values[ticketField] = []byte(`"CARRIER-4711"`)
	}
	return values
}
