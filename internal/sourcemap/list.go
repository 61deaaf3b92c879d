package sourcemap

import (
	"fmt"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// maxWindow is the longest window of /sourcemap/list, in milliseconds: 365 days.
const maxWindow = 365 * 24 * 60 * 60 * 1000

// defaultLimit is the number of elements of a page without a limit.
const defaultLimit = 20

type listRequest struct {
	StartTime int64    `json:"start_time" minimum:"1" doc:"Start of the window of uploads, Unix milliseconds, inclusive."`
	EndTime   int64    `json:"end_time" minimum:"1" doc:"End of the window, Unix milliseconds, exclusive; after start_time, at most 365 days."`
	Type      string   `json:"type,omitzero" enum:"browser,android,ios," doc:"The kind of application; absent or empty: browser."`
	Services  []string `json:"services,omitzero" maxItems:"100" maxLength:"255" doc:"Only maps of these services; none: of all."`
	Versions  []string `json:"versions,omitzero" maxItems:"100" maxLength:"255" doc:"Only maps of these versions; none: of all."`
	Query     string   `json:"query,omitzero" maxLength:"200" doc:"Part of the address of the minified file, in upper or lower case."`
	BuildID   string   `json:"build_id,omitzero" maxLength:"200" doc:"Only maps of this build, of type android."`
	UUID      string   `json:"uuid,omitzero" maxLength:"200" doc:"Only symbols of this bundle, of type ios."`
	OrderBy   string   `json:"orderby,omitzero" enum:"created_at,updated_at," doc:"What to sort by; absent or empty: created_at."`
	Asc       bool     `json:"asc,omitzero" doc:"Oldest first; else newest first."`
	api.CursorRequest
}

// Check returns a fault if the window is empty or too long.
func (in listRequest) Check() error {
	switch span := in.EndTime - in.StartTime; {
	case span <= 0:
		return fault.Invalid("end_time", "must be greater than start_time %d, got %d", in.StartTime, in.EndTime)
	case span > maxWindow:
		return fault.Invalid("end_time", "must be at most 365 days (%d milliseconds) after start_time, got %d milliseconds", maxWindow, span)
	}
	return in.Page.Check()
}

// Membership in a list of texts is tested with replace, as LIKE treats characters of a column as wildcards. Services and
// versions may hold commas, but no line ends ($6), which separate the elements of a list.
const matching = ` FROM source_map WHERE account_id = $1 AND created_at >= $2 AND created_at < $3 AND kind = $4
	AND ($5 = '' OR replace($5, $6 || service || $6, '') <> $5) AND ($7 = '' OR replace($7, $6 || version || $6, '') <> $7)
	AND ($8 = '%%' OR url_folded LIKE $8 ESCAPE '\')`

const page = `SELECT map_id, ` + columns + matching

type order struct {
	by  string
	asc bool
}

const window = ` LIMIT $12 + 0 OFFSET $13 + 0`

// pages holds the statement of a page for each order, behind a position; map_id breaks ties in all of them.
var pages = map[order]string{
	{"created_at", false}: page + ` AND ($9 OR (created_at, map_id) < ($10, $11)) ORDER BY created_at DESC, map_id DESC` + window,
	{"created_at", true}:  page + ` AND ($9 OR (created_at, map_id) > ($10, $11)) ORDER BY created_at, map_id` + window,
	{"updated_at", false}: page + ` AND ($9 OR (updated_at, map_id) < ($10, $11)) ORDER BY updated_at DESC, map_id DESC` + window,
	{"updated_at", true}:  page + ` AND ($9 OR (updated_at, map_id) > ($10, $11)) ORDER BY updated_at, map_id` + window,
}

// position returns where a map stands in the list.
func (in listRequest) position(m Sourcemap) api.Position {
	if in.OrderBy == "updated_at" {
		return api.Position{At: m.UpdatedAt, ID: m.id}
	}
	return api.Position{At: m.CreatedAt, ID: m.id}
}

// list answers /sourcemap/list.
func (s *Service) list(c *api.Call, in listRequest) (reply api.CursorPage[Sourcemap], err error) {
	if in.BuildID != "" || in.UUID != "" { // no such map can be uploaded
		return api.CursorPage[Sourcemap]{Items: []Sourcemap{}}, nil
	}
	if in.Type == "" {
		in.Type = "browser"
	}
	if in.OrderBy == "" {
		in.OrderBy = "created_at"
	}
	args := []any{
		c.Who.AccountID, (in.StartTime + 999) / 1000, (in.EndTime + 999) / 1000, in.Type, lines(in.Services), "\n", lines(in.Versions),
		db.Containing(in.Query),
	}
	binding := fmt.Sprintf("source maps %+q %v %v", args, in.OrderBy, in.Asc)
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+matching, args...)
	if err != nil {
		return reply, err
	}
	limit, offset := in.Window(defaultLimit)
	items, onPage, err := db.Page(c.Tx, limit, api.PageBytes, scan, pages[order{in.OrderBy, in.Asc}],
		append(args, from.Unset(), from.At, from.ID, limit+1, offset)...)
	c.WarnShort(onPage, limit, "")
	return api.NewCursorPage(c, items, onPage, total, binding, in.position), err
}

// lines writes texts as a list for a statement; none is the empty text.
func lines(texts []string) string {
	list := ""
	for _, t := range texts {
		list += "\n" + t + "\n"
	}
	return list
}
