package schedule

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// uncomputed is what the encoder writes for a schedule without timelines. The text cannot come from a value:
// quotes within strings are escaped.
const uncomputed = `"schedule_layers":null,"layer_schedules":null,"final_schedule":{"layer_name":"","name":"","mode":0,"schedules":null}`

// AppendJSON implements api.Appender: it appends what the encoder would write, byte for byte, which a test
// holds it to. The timelines are nine tenths of a reply and say little over and over, the layers' even
// twice; writing them straight costs a fifth of what the encoder takes, which is most of the operation.
func (s Schedule) AppendJSON(b []byte) ([]byte, error) {
	plain := s
	plain.ScheduleLayers, plain.LayerSchedules, plain.FinalSchedule = nil, nil, ComputedLayer{}
	text, err := json.Marshal(plain, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		return b, err
	}
	before, after, found := bytes.Cut(text, []byte(uncomputed))
	if !found {
		return b, fmt.Errorf("a schedule without timelines is written as %s", text)
	}
	b = append(append(b, before...), `"schedule_layers":`...)
	from := len(b)
	b = appendLayers(b, s.ScheduleLayers)
	layers := b[from:]
	b = append(b, `,"layer_schedules":`...)
	if s.LayerSchedules == s.ScheduleLayers {
		b = append(b, layers...)
	} else {
		b = appendLayers(b, s.LayerSchedules)
	}
	b = append(b, `,"final_schedule":`...)
	b = s.FinalSchedule.append(b)
	return append(b, after...), nil
}

func appendLayers(b []byte, layers *[]ComputedLayer) []byte {
	if layers == nil {
		return append(b, "null"...)
	}
	return appendList(b, *layers, func(b []byte, l *ComputedLayer) []byte { return l.append(b) })
}

func (l *ComputedLayer) append(b []byte) []byte {
	b = appendText(append(b, `{"layer_name":`...), l.LayerName)
	b = appendText(append(b, `,"name":`...), l.Name)
	b = strconv.AppendInt(append(b, `,"mode":`...), l.Mode, 10)
	b = append(b, `,"schedules":`...)
	if l.Schedules == nil {
		b = append(b, "null"...)
	} else {
		b = appendList(b, *l.Schedules, func(b []byte, e *Entry) []byte { return e.append(b) })
	}
	return append(b, '}')
}

func (e *Entry) append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"start":`...), e.Start, 10)
	b = strconv.AppendInt(append(b, `,"end":`...), e.End, 10)
	b = e.Group.append(append(b, `,"group":`...))
	b = strconv.AppendInt(append(b, `,"index":`...), int64(e.Index), 10)
	return append(b, '}')
}

func (g *Group) append(b []byte) []byte {
	b = appendText(append(b, `{"group_name":`...), g.GroupName)
	b = appendText(append(b, `,"name":`...), g.Name)
	b = appendList(append(b, `,"members":`...), g.Members, func(b []byte, m *Member) []byte {
		b = strconv.AppendInt(append(b, `{"role_id":`...), m.RoleID, 10)
		b = appendList(append(b, `,"person_ids":`...), m.PersonIDs, func(b []byte, id *int64) []byte { return strconv.AppendInt(b, *id, 10) })
		return append(b, '}')
	})
	b = strconv.AppendInt(append(b, `,"start":`...), g.Start, 10)
	b = strconv.AppendInt(append(b, `,"end":`...), g.End, 10)
	return append(b, '}')
}

func appendList[T any](b []byte, list []T, item func([]byte, *T) []byte) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = item(b, &list[i])
	}
	return append(b, ']')
}

// appendText quotes a text. What is not UTF-8 in it is mended, as the frame has the encoder do.
func appendText(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}
