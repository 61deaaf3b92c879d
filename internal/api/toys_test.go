package api_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Toys is a request with every kind of field, and its own reply.
type Toys struct {
	Name   string            `json:"name" minLength:"1" maxLength:"5" doc:"What it is called."`
	Count  int64             `json:"count" minimum:"1" maximum:"100" doc:"How many."`
	Maybe  *Part             `json:"maybe" nullable:"true" doc:"A part, or null for none."`
	Big    int64             `json:"big,omitzero" doc:"Any 64-bit integer."`
	Huge   uint64            `json:"huge,omitzero" doc:"Any unsigned 64-bit integer."`
	Small  int8              `json:"small,omitzero" doc:"A small integer."`
	Mode   int               `json:"mode,omitzero" enum:"0,1" doc:"0 or 1."`
	Ratio  float64           `json:"ratio,omitzero" minimum:"0" maximum:"0.5" doc:"A share."`
	On     *bool             `json:"on,omitempty" doc:"Whether it is on."`
	Kind   string            `json:"kind,omitzero" enum:"red,blue" doc:"Its colour."`
	ID     string            `json:"id,omitzero" pattern:"^[0-9a-f]{4}$" patternDescription:"4 hexadecimal digits" doc:"Its identifier."`
	Code   string            `json:"code,omitzero" pattern:"^[A-Z]*$" doc:"Capital letters."`
	Token  string            `json:"token,omitzero" maxLength:"8" secret:"value" doc:"A secret."`
	Tags   []string          `json:"tags,omitempty" minItems:"1" maxItems:"3" maxLength:"4" doc:"Words."`
	IDs    []uint64          `json:"ids,omitempty" maxItems:"4" doc:"Identifiers."`
	Labels map[string]string `json:"labels,omitempty" doc:"Labels by name."`
	Counts map[string]int64  `json:"counts,omitempty" doc:"Counts by name."`
	Parts  []Part            `json:"parts,omitempty" doc:"What it is made of."`
	Free   json.RawMessage   `json:"free,omitempty" doc:"Any document."`
	At     time.Time         `json:"at,omitzero" doc:"When."`
	Hues   []hue             `json:"colours,omitempty" doc:"Types that write themselves."`
	Shapes shapes            `json:"shapes,omitzero" maxLength:"4" doc:"Lists, or one of them."`
	Bag    *Bag              `json:"bag,omitempty" doc:"Where it is kept."`
	From   int64             `json:"from,omitzero" doc:"First."`
	To     int64             `json:"to,omitzero" doc:"Last, not before the first."`
	Display
}

// shapes are lists of words, or the words of the only list.
type shapes = filter.Either[[][]string, []string]

// hue is a struct in Go and a string everywhere else.
type hue struct{ degrees int }

func (h hue) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(h.degrees), 10), nil }

func (h *hue) UnmarshalText(b []byte) (err error) {
	h.degrees, err = strconv.Atoi(string(b))
	if err != nil || h.degrees < 0 || h.degrees >= 360 {
		return fault.Invalid("", "must be from 0 to 359, got %s", b)
	}
	return nil
}

// Display is embedded: its fields are the request's own.
type Display struct {
	Colour string `json:"colour,omitzero" maxLength:"3" doc:"As shown."`
}

// Bag stores unknown members. Its note is optional in requests and always present in replies.
type Bag struct {
	Size   int                       `json:"size" minimum:"1" doc:"Litres."`
	Note   *string                   `json:"note" required:"false" doc:"A note."`
	Others map[string]jsontext.Value `json:",embed" hidden:"true" required:"false"`
}

// Part contains values of its own type.
type Part struct {
	Weight int    `json:"weight" minimum:"0" doc:"Grams."`
	Label  string `json:"label,omitzero" maxLength:"4" doc:"On the part."`
	Inner  *Part  `json:"inner,omitempty" doc:"A part within."`
	Parts  []Part `json:"parts,omitempty" maxItems:"2" doc:"More within."`
}

func (t Toys) Check() error {
	if t.To < t.From {
		return fault.Invalid("to", "must not be before from %d, got %d", t.From, t.To)
	}
	return nil
}

type nothing struct{}

type toyID struct {
	ID int64 `json:"id" minimum:"1" doc:"The toy's identifier."`
}

// toy is what the tests store.
type toy struct {
	ID   int64  `json:"id" doc:"The toy's identifier."`
	Name string `json:"name" doc:"What it is called."`
}

type newToy struct {
	Name     string `json:"name" maxLength:"40" doc:"What it is called."`
	Password string `json:"password,omitzero" secret:"value" doc:"A secret."`
	Then     string `json:"then,omitzero" enum:"refuse,fail,panic,unspeakable" doc:"What to do after the insert."`
}

const (
	echo   = "/toy/echo"
	info   = "/toy/info"
	list   = "/toy/list"
	create = "/toy/create"
	open   = "/toy/open"
	secure = "/toy/secure"
	broken = "/toy/broken"
)

const minimal = `{"name":"a","count":1,"maybe":null}`

func toys() []api.Op {
	manage := []auth.Permission{auth.SchedulesManage}
	return []api.Op{
		{Path: echo, Effect: api.Read, Allow: []auth.Permission{auth.SchedulesRead, auth.SchedulesManage}, MaxBody: 2000,
			Doc: "Gives back what it got.", Notes: "Nothing is kept.\n\nNothing is lost.", Example: minimal,
			Do: api.Do(func(c *api.Call, in Toys) (Toys, error) { return in, nil })},
		{Path: info, Effect: api.Read, Allow: []auth.Permission{auth.SchedulesRead}, Doc: "Gives one toy.", Example: `{"id":1}`,
			Errors: api.Errors{fault.NotFound: "No toy has the id."}, Do: api.Do(toyInfo)},
		{Path: list, Effect: api.Snapshot, Doc: "Lists the toys.", Example: `{}`, Do: api.Do(toyList)},
		{Path: create, Effect: api.Write, Allow: manage, Audit: "toy:write:create", Doc: "Makes a toy.", Example: `{"name":"ball"}`, Do: api.Do(toyCreate)},
		{Path: open, Effect: api.Write, Audit: "toy:write:open", Danger: true, Doc: "Opens a toy.", Example: `{}`,
			Do: api.Do(func(c *api.Call, in nothing) (api.Empty, error) { return api.Empty{}, nil })},
		{Path: secure, Effect: api.Read, Allow: []auth.Permission{auth.DatasourcesManage}, Doc: "Needs much.", Example: `{}`,
			Do: api.Do(func(c *api.Call, in nothing) (api.Empty, error) { return api.Empty{}, nil })},
		{Path: broken, Effect: api.Read, Doc: "Breaks in three ways.", Example: `{"name":"panic"}`, Do: api.Do(toyBroken)},
	}
}

func toyInfo(c *api.Call, in toyID) (toy, error) {
	found, ok, err := db.One(c.Tx, scanToy, `SELECT toy_id, toy_name FROM toy WHERE account_id = $1 AND toy_id = $2`, c.Who.AccountID, in.ID)
	if err == nil && !ok {
		err = fault.Missing("toy", in.ID)
	}
	return found, err
}

func toyList(c *api.Call, in nothing) (api.Items[toy], error) {
	all, err := db.All(c.Tx, scanToy, `SELECT toy_id, toy_name FROM toy WHERE account_id = $1 ORDER BY toy_id`, c.Who.AccountID)
	return api.Items[toy]{Items: all}, err
}

func scanToy(scan db.Scan) (t toy, err error) { return t, scan(&t.ID, &t.Name) }

// made is the reply of create; a reply that cannot be encoded has a function in it.
type made struct {
	ID   int64          `json:"id" doc:"The toy's identifier."`
	More map[string]any `json:"more,omitempty" doc:"What else there is."`
}

func toyCreate(c *api.Call, in newToy) (made, error) {
	id, _, err := db.One(c.Tx, db.Column[int64], `INSERT INTO toy (account_id, toy_id, toy_name)
		VALUES ($1, (SELECT count(*) + 1 FROM toy WHERE account_id = $1), $2) RETURNING toy_id`, c.Who.AccountID, in.Name)
	if err != nil {
		return made{}, err
	}
	switch in.Then {
	case "refuse":
		return made{}, fault.New(fault.Conflict, "the toy does not want to")
	case "fail":
		return made{}, errors.New("a private cause")
	case "panic":
		panic("a private panic")
	case "unspeakable":
		return made{id, map[string]any{"x": func() {}}}, nil
	}
	return made{ID: id}, nil
}

func toyBroken(c *api.Call, in newToy) (made, error) {
	switch in.Name {
	case "panic":
		var none *toy
		return made{ID: none.ID}, nil
	case "encode":
		return made{1, map[string]any{"x": make(chan int)}}, nil
	case "bytes":
		return made{1, map[string]any{"x": "not \xff UTF-8"}}, nil
	}
	return made{}, errors.New("SELECT secret FROM cellar: a private cause")
}

// withToys creates the table of toys, since it has no migration.
func withToys(s *apitest.Server) *apitest.Server {
	s.Exec(`CREATE TABLE toy (account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE, toy_id BIGINT NOT NULL, toy_name TEXT NOT NULL, PRIMARY KEY (account_id, toy_id))`)
	return s
}

type tx = db.Tx

// allOf reads one column.
func allOf[T any](tx *db.Tx, query string, args ...any) ([]T, error) {
	return db.All(tx, db.Column[T], query, args...)
}
