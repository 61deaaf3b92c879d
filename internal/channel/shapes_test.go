package channel_test

import (
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
)

const (
	isTest  = `{"key":"labels.env","oper":"IN","vals":["test"]}`
	unequal = `{"key":"labels.env","oper":"LIKE","vals":["test"]}`
)

// The filters of inhibit rules and of grouping come back in the shape in which they were written.
func TestFiltersInTwoShapes(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, channel.Ops(apitest.Box(t)))
	inhibit := func(source, target string) string {
		return `"rule_name":"x","equals":["a"],"source_filters":` + source + `,"target_filters":` + target
	}
	grouped := func(cases string) string { return `"group":{"method":"p","cases":[` + cases + `]}` }
	flat := grouped(`{"if":[` + isTest + `],"equals":["labels.a","labels.b"]}`)
	nested := grouped(`{"if":[[` + isTest + `],[` + isTest + `]],"equals":[["labels.a"],["labels.b"]]}`)
	none := grouped(`{"if":[],"equals":[]}`)
	const create, update = "/channel/inhibit/rule/create", "/channel/inhibit/rule/update"
	turns := []apitest.Turn{{Path: "/channel/create", Body: `{"team_id":0,"channel_name":"x"}`, Keep: map[string]string{"ch": "channel_id"}}}
	for _, group := range []string{flat, nested, none} {
		turns = append(turns,
			apitest.Turn{Path: "/channel/update", Body: `{"channel_id":$ch,` + group + `}`, Data: `{}`},
			apitest.Turn{Path: "/channel/info", Body: `{"channel_id":$ch}`, Has: `{` + group + `}`})
	}
	refuse := func(path, body string, says ...string) apitest.Turn {
		return apitest.Turn{Path: path, Body: `{"channel_id":$ch,` + body + `}`, Code: "InvalidParameter", Says: says}
	}
	fields := `"f"` + strings.Repeat(`,"f"`, 20)
	turns = append(turns,
		apitest.Turn{Path: create, Body: `{"channel_id":$ch,` + inhibit(`[`+isTest+`]`, `[[`+isTest+`]]`) + `}`, Keep: map[string]string{"id": "rule_id"},
			Has: `{"warnings":["source_filters and target_filters are the same: of two such alerts the first inhibits the second"]}`},
		apitest.Turn{Path: "/channel/inhibit/rule/list", Body: `{"channel_id":$ch}`, Has: `{"items":[{` + inhibit(`[`+isTest+`]`, `[[`+isTest+`]]`) + `}]}`},
		apitest.Turn{Path: update, Body: `{"channel_id":$ch,"rule_id":"$id",` + inhibit(`[]`, `[`+isTest+`,{"key":"severity","oper":"IN","vals":["critical"]}]`) + `}`,
			Has: `{"warnings":["target_filters: never matches, no severity meets all conditions on it","target_filters[1].vals[0]: severity is never \"critical\", it is one of Critical, Warning, Info, Ok"]}`},
		apitest.Turn{Path: update, Body: `{"channel_id":$ch,"rule_id":"$id","rule_name":"x","equals":["a"],"target_filters":[{"key":"a","oper":"IN","vals":["b"],"valls":[]}]}`,
			Has: `{"warnings":["target_filters[0].valls: is not known here and is ignored; did you mean vals?"]}`},
		apitest.Turn{Path: "/channel/inhibit/rule/list", Body: `{"channel_id":$ch}`, Has: `{"items":[{` + inhibit(`[]`, `[{"key":"a","oper":"IN","vals":["b"]}]`) + `}]}`},
		apitest.Turn{Path: create, Body: `{"channel_id":$ch,"rule_name":"all","equals":[],"target_filters":[` + isTest + `]}`,
			Has: `{"warnings":["equals: names no field, so an active source inhibits every target of the channel"]}`},
		refuse(create, inhibit(`[`+unequal+`]`, `[]`), "source_filters[0].oper"),
		refuse(create, inhibit(`[]`, `[[`+unequal+`]]`), "target_filters[0][0].oper"),
		refuse(create, inhibit(`[`+isTest+`,[`+isTest+`]]`, `[]`), "source_filters[1]", "must be an object"),
		refuse(create, inhibit(`[[`+isTest+`],`+isTest+`]`, `[]`), "source_filters[1]", "must be an array"),
		refuse(create, inhibit(`[`+isTest+strings.Repeat(`,`+isTest, 100)+`]`, `[]`), "source_filters", "100"),
		refuse("/channel/update", grouped(`{"if":[`+unequal+`]}`), "group.cases[0].if[0].oper"),
		refuse("/channel/update", grouped(`{"equals":[`+fields+`]}`), "group.cases[0].equals", "20"),
		refuse("/channel/update", grouped(`{"equals":[[`+fields+`]]}`), "group.cases[0].equals[0]", "20"),
		refuse("/channel/update", grouped(`{"equals":["`+strings.Repeat("x", 256)+`"]}`), "group.cases[0].equals[0]", "255"),
		refuse("/channel/update", grouped(`{"equals":[["a"],"b"]}`), "group.cases[0].equals[1]", "must be an array"),
		refuse("/channel/update", grouped(`{"equals":[5]}`), "group.cases[0].equals[0]", "must be an array"))
	s.Converse(t, turns)
}
