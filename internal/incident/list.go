package incident

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/team"
)

// ListRequest asks for incidents that began in a window.
type ListRequest struct {
	StartTime        int64    `json:"start_time" minimum:"1" maximum:"9999999999" doc:"Start of the window in which incidents began, Unix seconds."`
	EndTime          int64    `json:"end_time" minimum:"1" maximum:"9999999999" doc:"Its end, exclusive, at most 31 days later."`
	Asc              bool     `json:"asc,omitzero" doc:"Oldest first."`
	IsSnoozed        bool     `json:"is_snoozed,omitzero" doc:"Only those that are snoozed."`
	IsMyTeam         bool     `json:"is_my_team,omitzero" doc:"Only those of channels that the caller's teams own."`
	IsMyChannel      bool     `json:"is_my_channel,omitzero" doc:"Only those of channels that the caller made."`
	EverMuted        bool     `json:"ever_muted,omitzero" doc:"Only those with an alert that was muted at some time."`
	IsRare           bool     `json:"is_rare,omitzero" doc:"Accepted, and without effect."`
	Progress         string   `json:"progress,omitzero" maxLength:"100" doc:"Triggered, Processing and Closed, joined by commas."`
	Query            string   `json:"query,omitzero" maxLength:"200" doc:"An identifier of 24 digits, a number of six, or text that the title, a label value, the description, or the name of an alert as in headline contains, in upper or lower case."`
	IncidentSeverity string   `json:"incident_severity,omitzero" maxLength:"100" doc:"Critical, Warning and Info, joined by commas."`
	ChannelIDs       []int64  `json:"channel_ids,omitzero" maxItems:"100" doc:"Only those of these channels; 0: of none."`
	TeamIDs          []int64  `json:"team_ids,omitzero" maxItems:"100" doc:"Only those of channels that these teams own."`
	ResponderIDs     []int64  `json:"responder_ids,omitzero" maxItems:"100" doc:"Only those for which one of these is responsible."`
	AckerIDs         []int64  `json:"acker_ids,omitzero" maxItems:"100" doc:"Only those that one of these has acknowledged."`
	CreatorIDs       []int64  `json:"creator_ids,omitzero" maxItems:"100" doc:"Only those that one of these made; 0: Tocsin itself."`
	CloserIDs        []int64  `json:"closer_ids,omitzero" maxItems:"100" doc:"Only those that one of these closed; 0: Tocsin itself."`
	IncidentIDs      []string `json:"incident_ids,omitzero" maxItems:"100" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Only these."`
	Nums             []string `json:"nums,omitzero" maxItems:"100" maxLength:"64" doc:"Only those with these numbers."`
	api.CursorRequest
}

// maxWindow is the longest window of a list, in seconds.
const maxWindow = 31 * 86400

// Check holds the request against its bounds.
func (in ListRequest) Check() error {
	switch span := in.EndTime - in.StartTime; {
	case span <= 0:
		return fault.Invalid("end_time", "must be greater than start_time %d, got %d", in.StartTime, in.EndTime)
	case span > maxWindow:
		return fault.Invalid("end_time", "must be at most 31 days (%d seconds) after start_time, got %d seconds", maxWindow, span)
	}
	if err := oneOf("progress", in.Progress, Triggered, Processing, Closed); err != nil {
		return err
	}
	if err := oneOf("incident_severity", in.IncidentSeverity, "Critical", "Warning", "Info"); err != nil {
		return err
	}
	return in.Page.Check()
}

// oneOf returns fault.Invalid unless every word of a list joined by commas is known.
func oneOf(field, list string, known ...string) error {
	for _, word := range split(list) {
		if !slices.Contains(known, word) {
			return fault.Invalid(field, "must be of %s, joined by commas, got %.60q", strings.Join(known, ", "), word)
		}
	}
	return nil
}

// split returns the words of a list joined by commas, without spaces and empty words.
func split(list string) (words []string) {
	for _, word := range strings.Split(list, ",") {
		word = strings.TrimSpace(word)
		if word != "" {
			words = append(words, word)
		}
	}
	return words
}

const matching = ` FROM incident i WHERE i.account_id = $1 AND i.start_time >= $2 AND i.start_time < $3
	AND ($4 = '' OR $4 LIKE '%,' || i.progress || ',%')
	AND ($5 = '' OR $5 LIKE '%,' || i.severity || ',%')
	AND ($6 = '' OR $6 LIKE '%,' || i.channel_id || ',%')
	AND NOT ($7 LIKE '%,' || i.channel_id || ',%')
	AND ($8 = '%%' OR i.search_folded LIKE $8 ESCAPE '\' OR i.incident_id = $17 OR substr(i.incident_id, 19) = $17
		OR ` + alert.OfIncidentNamed + `$8 ESCAPE '\'))
	AND ($9 = '' OR $9 LIKE '%,' || i.creator_id || ',%')
	AND ($10 = '' OR i.progress = 'Closed' AND $10 LIKE '%,' || i.closer_id || ',%')
	AND ($11 = '' OR $11 LIKE '%,' || i.incident_id || ',%')
	AND ($12 = '' OR $12 LIKE '%,' || substr(i.incident_id, 19) || ',%')
	AND ($13 = 0 OR i.progress <> 'Closed' AND i.snoozed_before > $13)
	AND (NOT $14 OR i.ever_muted)
	AND ($15 = '' OR EXISTS (SELECT 1 FROM incident_assignment a WHERE a.account_id = i.account_id AND a.incident_id = i.incident_id
		AND a.removed_at = 0 AND $15 LIKE '%,' || a.person_id || ',%'))
	AND ($16 = '' OR EXISTS (SELECT 1 FROM incident_assignment a WHERE a.account_id = i.account_id AND a.incident_id = i.incident_id
		AND a.acknowledged_at > 0 AND $16 LIKE '%,' || a.person_id || ',%'))`

func (r *Service) list(c *api.Call, in ListRequest) (reply api.CursorPage[View], err error) {
	channels, none, err := in.channels(c)
	if err != nil || none {
		return api.CursorPage[View]{Items: []View{}}, err
	}
	hidden, err := channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return reply, err
	}
	snoozed := int64(0)
	if in.IsSnoozed {
		snoozed = c.Unix()
	}
	args := []any{c.Who.AccountID, in.StartTime, in.EndTime, db.List(split(in.Progress)), db.List(split(in.IncidentSeverity)),
		db.List(channels), "",
		db.Containing(in.Query), db.List(in.CreatorIDs), db.List(in.CloserIDs), db.List(lower(in.IncidentIDs)), db.List(lower(in.Nums)),
		in.IsSnoozed, in.EverMuted, db.List(in.ResponderIDs), db.List(in.AckerIDs), searchID(in.Query)}
	binding := fmt.Sprint("incidents", args, in.Asc)
	// After the binding: neither the time of the call, nor a channel that becomes private, must end the cursor.
	args[6], args[12] = db.List(hidden), snoozed
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	limit, offset := in.Window(20)
	page := ` AND ($18 = '' OR i.start_time < $19 OR i.start_time = $19 AND i.incident_id < $18)
		ORDER BY i.start_time DESC, i.incident_id DESC LIMIT $20 + 0 OFFSET $21 + 0`
	if in.Asc {
		page = ` AND ($18 = '' OR i.start_time > $19 OR i.start_time = $19 AND i.incident_id > $18)
			ORDER BY i.start_time, i.incident_id LIMIT $20 + 0 OFFSET $21 + 0`
	}
	found, onPage, err := db.Page(c.Tx, limit, api.PageBytes, scanIncident, `SELECT `+columns+matching+page,
		append(args, from.ID, from.At, limit+1, offset)...)
	if err != nil {
		return reply, err
	}
	c.WarnShort(onPage, limit, "")
	total := int64(len(found))
	if !from.Unset() || offset > 0 || total > onPage { // else the page is the whole list: a rare text needs no second search
		total, _, err = db.One(c.Tx, db.Column[int64], `SELECT count(*)`+matching, args...)
		if err != nil {
			return reply, err
		}
	}
	pageOf := api.NewCursorPage(c, found, onPage, total, binding,
		func(i Incident) api.Position { return api.Position{At: i.StartTime, ID: i.IncidentID} })
	if err := readAssignments(c.Tx, c.Who.AccountID, pageOf.Items); err != nil {
		return reply, err
	}
	items, err := r.showPage(c.Tx, c.Who.AccountID, pageOf.Items)
	return api.PageOf(items, pageOf), err
}

// channels returns the channels that the request selects. none reports that its filters leave no channel, which is not
// the same as an empty list: that selects all.
func (in ListRequest) channels(c *api.Call) (ids []int64, none bool, err error) {
	ids = in.ChannelIDs
	narrowed := len(ids) > 0 // an empty list is no filter
	narrow := func(more []int64, err error) error {
		if !narrowed {
			ids = more
		} else {
			ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !slices.Contains(more, id) })
		}
		narrowed, none = true, none || len(ids) == 0
		return err
	}
	if len(in.TeamIDs) > 0 {
		if err := narrow(channel.OfTeams(c.Tx, c.Who.AccountID, in.TeamIDs)); err != nil {
			return nil, false, err
		}
	}
	if in.IsMyTeam {
		mine, err := team.Of(c.Tx, c.Who.AccountID, c.Who.PersonID)
		if err != nil {
			return nil, false, err
		}
		if err := narrow(channel.OfTeams(c.Tx, c.Who.AccountID, mine)); err != nil {
			return nil, false, err
		}
	}
	if in.IsMyChannel {
		if err := narrow(channel.CreatedBy(c.Tx, c.Who.AccountID, c.Who.PersonID)); err != nil {
			return nil, false, err
		}
	}
	return ids, none, nil
}

// lower returns the texts in lower case.
func lower(list []string) []string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = strings.ToLower(s)
	}
	return all
}
