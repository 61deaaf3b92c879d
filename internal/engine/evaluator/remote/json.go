package remote

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"tocsin/internal/core/evaluate"
)

// options are those of all bodies: NaN and infinite numbers are texts, durations are nanoseconds, time zones are names, the values
// of a row are an object.
var options = json.JoinOptions(
	jsonv1.FormatDurationAsNano(true),
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(func(e *jsontext.Encoder, f float64) error {
			if !math.IsNaN(f) && !math.IsInf(f, 0) {
				return errors.ErrUnsupported
			}
			return e.WriteToken(jsontext.String(strconv.FormatFloat(f, 'g', -1, 64)))
		}),
		json.MarshalToFunc(func(e *jsontext.Encoder, zone *time.Location) error {
			return e.WriteToken(jsontext.String(zone.String()))
		}),
		json.MarshalToFunc(func(e *jsontext.Encoder, values evaluate.Values) error {
			return json.MarshalEncode(e, values.Map())
		}),
	)),
	json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(func(d *jsontext.Decoder, f *float64) error {
			if d.PeekKind() != '"' {
				return errors.ErrUnsupported
			}
			text, err := d.ReadToken()
			if err != nil {
				return err
			}
			*f, err = strconv.ParseFloat(text.String(), 64)
			return err
		}),
		json.UnmarshalFromFunc(func(d *jsontext.Decoder, zone *time.Location) error {
			text, err := d.ReadToken()
			if err != nil {
				return err
			}
			found, err := time.LoadLocation(text.String())
			if err == nil {
				*zone = *found
			}
			return err
		}),
		json.UnmarshalFromFunc(func(d *jsontext.Decoder, values *evaluate.Values) error {
			var object map[string]float64
			if err := json.UnmarshalDecode(d, &object); err != nil {
				return err
			}
			*values = nil
			for _, field := range slices.Sorted(maps.Keys(object)) {
				values.Set(field, object[field])
			}
			return nil
		}),
	)),
)

// Marshal returns the JSON of a body.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, options, json.Deterministic(true)) }

// Unmarshal reads a body. Members that it does not know are ignored.
func Unmarshal(text []byte, v any) error { return json.Unmarshal(text, v, options) }
