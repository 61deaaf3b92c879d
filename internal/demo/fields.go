package demo

import "github.com/go-json-experiment/json/jsontext"

// Names of the custom fields of incidents.
const (
	impactField   = "impact"
	customerField = "customers_affected"
	ticketField   = "ticket"
)

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
