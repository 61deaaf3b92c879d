package statuspage

import (
	"regexp"
	"strconv"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// Page is a status page: what an account shows of its systems, and under which name in URLs.
type Page struct {
	AccountID   int64       `json:"account_id" doc:"Owning account."`
	PageID      int64       `json:"page_id" doc:"The page's identifier."`
	Name        string      `json:"name" maxLength:"255" doc:"What readers see; need not be unique."`
	URLName     string      `json:"url_name" maxLength:"63" doc:"Its name in URLs; unique in the account."`
	Description string      `json:"description" maxLength:"5000" doc:"Markdown, stored as it was sent."`
	TeamID      int64       `json:"team_id" doc:"Owning team; 0: none."`
	Sections    []Section   `json:"sections" maxItems:"50" doc:"Headings, in their order."`
	Components  []Component `json:"components" maxItems:"200" doc:"What the page shows the status of, in their order."`
	CreatorID   int64       `json:"creator_id" doc:"The person who created it; 0: not known."`
	UpdatedBy   int64       `json:"updated_by" doc:"The person who changed it last."`
	CreatedAt   int64       `json:"created_at" doc:"Unix seconds."`
	UpdatedAt   int64       `json:"updated_at" doc:"Unix seconds."`
}

// Section is a heading of a page, with components below it.
type Section struct {
	SectionID string `json:"section_id,omitempty" minLength:"1" maxLength:"64" doc:"Letters, digits, - and _; absent in a request: that of the section of this name, else a new one."`
	Name      string `json:"name" maxLength:"255" doc:"Unique in the page."`
}

// Component is a part of the systems whose status a page shows.
type Component struct {
	ComponentID    string `json:"component_id,omitempty" minLength:"1" maxLength:"64" doc:"Letters, digits, - and _; absent in a request: that of the component of this name, else a new one."`
	SectionID      string `json:"section_id" required:"false" maxLength:"64" doc:"The section it is in; empty: none."`
	Name           string `json:"name" maxLength:"255" doc:"Unique in the page."`
	Description    string `json:"description" required:"false" maxLength:"500" doc:"Plain text."`
	AvailableSince int64  `json:"available_since_seconds" required:"false" minimum:"0" maximum:"9999999999" doc:"Since when it is available, Unix seconds; absent or 0: since it was added."`
	OrderID        int64  `json:"order_id" required:"false" minimum:"0" maximum:"1000000" doc:"Position in its section."`
	HideUptime     bool   `json:"hide_uptime" required:"false" doc:"Its uptime is not shown."`
	HideAll        bool   `json:"hide_all" required:"false" doc:"It is not shown at all."`
}

// maxPages is the largest number of pages of an account.
const maxPages = 100

// Pages describes how pages are stored and checked.
var Pages = configstore.Kind[Page]{
	Name: configstore.StatusPage, Section: "status_pages",
	Head: func(p *Page) configstore.Head {
		return configstore.Head{
			ID:        strconv.FormatInt(p.PageID, 10),
			Name:      p.Name,
			Search:    p.URLName,
			Team:      p.TeamID,
			Creator:   p.CreatorID,
			CreatedAt: p.CreatedAt,
			UpdatedAt: p.UpdatedAt,
		}
	},
	Refs: func(p *Page) []configstore.Target {
		return []configstore.Target{configstore.RefTo(configstore.Team, p.TeamID)}
	},
	Check: func(tx *db.Tx, at configstore.RecordPath, account int64, p *Page) error {
		p.Sections, p.Components = orEmpty(p.Sections), orEmpty(p.Components)
		if err := configstore.FirstError(
			at.Account(p.AccountID, account), at.AtLeast("page_id", p.PageID, 1), at.AtLeast("team_id", p.TeamID, 0),
			p.check(at), roomForOne(tx, at, account), p.checkURL(tx, at, account),
		); err != nil {
			return err
		}
		p.AccountID = account
		return nil
	},
}

// orEmpty returns a list that is [] in JSON, never null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

var (
	urlName = regexp.MustCompile(`\A[a-z0-9]+(-[a-z0-9]+)*\z`)
	partID  = regexp.MustCompile(`\A[0-9A-Za-z_-]{1,64}\z`)
)

// maxTime is the largest moment that is accepted, in Unix seconds: in the year 2286.
const maxTime = 9_999_999_999

// check returns a fault for a page that is not sound by itself.
func (p *Page) check(at configstore.RecordPath) error {
	if err := at.Length("name", p.Name, 1, 255); err != nil {
		return err
	}
	if n := len(p.URLName); n < 1 || n > 63 || !urlName.MatchString(p.URLName) {
		return at.Invalid("url_name", "must be 1 to 63 lower-case letters and digits, with single - between them, got %.80q", p.URLName)
	}
	sections, names := map[string]bool{}, map[string]bool{}
	for i, s := range p.Sections {
		if err := checkPart(at.Element("sections", i), "section_id", s.SectionID, s.Name, sections, names); err != nil {
			return err
		}
	}
	components, names := map[string]bool{}, map[string]bool{}
	for i, c := range p.Components {
		at := at.Element("components", i)
		if err := checkPart(at, "component_id", c.ComponentID, c.Name, components, names); err != nil {
			return err
		}
		if c.SectionID != "" && !sections[c.SectionID] {
			return at.Invalid("section_id", "must be that of one of the sections of the page, got %.80q", c.SectionID)
		}
		if err := configstore.FirstError(
			within(at, "available_since_seconds", c.AvailableSince, maxTime), within(at, "order_id", c.OrderID, 1_000_000),
		); err != nil {
			return err
		}
	}
	return nil
}

// checkPart returns a fault for a section or component whose id or name is malformed or that of another one.
func checkPart(at configstore.RecordPath, member, id, name string, ids, names map[string]bool) error {
	switch {
	case !partID.MatchString(id):
		return at.Invalid(member, "must be 1 to 64 letters, digits, - or _, got %.80q", id)
	case ids[id]:
		return at.Twice(member, id)
	case names[name]:
		return at.Invalid("name", "must be unique in the page, %.80q is given twice", name)
	}
	ids[id], names[name] = true, true
	return at.Length("name", name, 1, 255)
}

// within returns a fault unless a number is from 0 to most.
func within(at configstore.RecordPath, member string, value, most int64) error {
	if value < 0 || value > most {
		return at.Invalid(member, "must be from 0 to %d, got %d", most, value)
	}
	return nil
}

// stored returns the pages of the account whose name has a text in it, and their number. Checks of Pages use it, which cannot depend
// on Pages.
func stored(tx *db.Tx, account int64, search string) ([]Page, int64, error) {
	return configstore.Kind[Page]{Name: configstore.StatusPage}.Page(tx, account, configstore.Query{Search: search, Limit: maxPages})
}

// roomForOne returns a fault if the account has as many pages as it may.
func roomForOne(tx *db.Tx, at configstore.RecordPath, account int64) error {
	_, total, err := stored(tx, account, "")
	if err == nil && total >= maxPages {
		err = at.Invalid("page_id", "must not be of one more page: an account has at most %d", maxPages)
	}
	return err
}

// checkURL returns a fault if another page of the account has this name in URLs.
func (p *Page) checkURL(tx *db.Tx, at configstore.RecordPath, account int64) error {
	pages, _, err := stored(tx, account, p.URLName)
	for _, other := range pages {
		if other.URLName == p.URLName && other.PageID != p.PageID {
			return at.Invalid("url_name", "must be unique: page %d has %q", other.PageID, p.URLName)
		}
	}
	return err
}

// identify sets the ids of the sections and components that were sent without one: that of the stored one of the same name,
// else a new one. So a client that sends the same names again changes nothing.
func (p *Page) identify(before *Page, now time.Time) {
	sections, components := map[string]string{}, map[string]string{}
	for _, s := range before.Sections {
		sections[s.Name] = s.SectionID
	}
	for _, c := range before.Components {
		components[c.Name] = c.ComponentID
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		s.SectionID = firstOf(s.SectionID, sections[s.Name], now)
	}
	for i := range p.Components {
		c := &p.Components[i]
		c.ComponentID = firstOf(c.ComponentID, components[c.Name], now)
	}
}

// firstOf returns the id that was sent, else the stored one, else a new one.
func firstOf(sent, stored string, now time.Time) string {
	switch {
	case sent != "":
		return sent
	case stored != "":
		return stored
	}
	return id.ULID(now)
}

// component returns the component of an id; nil if the page has none.
func (p *Page) component(id string) *Component {
	for i := range p.Components {
		if p.Components[i].ComponentID == id {
			return &p.Components[i]
		}
	}
	return nil
}
