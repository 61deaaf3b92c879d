package rumintake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/event"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

// deployWindow is for how long issues that are new in one version are one incident, from the first issue on.
const deployWindow = 10 * time.Minute

// alertGroup is a group of issues that are one incident. Issues new in one version have an alert each. Issues beyond the
// bound of an hour share one alert. Groups are stored, so that all nodes count alike.
type alertGroup struct {
	key, application string
	version          string // empty: the group has the issues beyond the bound
	channels         []int64
	severity         string // the highest severity of its issues
	sender           int64  // of the first issue, see sender.number; 0: issues of any sender join
	opened           int64  // Unix milliseconds
	issues           int64  // how many began
	listed           []listedIssue
}

// listedIssue is an issue of a group as its incident lists it.
type listedIssue struct {
	Issue    string `json:"issue_id"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
}

// maxListed is how many issues of a group its incident lists.
const maxListed = 10

const groupColumns = `group_key, application_id, version, channels, severity, opened_at, issues, listed, sender`

func scanGroup(scan db.Scan) (g alertGroup, err error) {
	var channels, listed string
	if err := scan(&g.key, &g.application, &g.version, &channels, &g.severity, &g.opened, &g.issues, &listed, &g.sender); err != nil {
		return g, err
	}
	_ = json.Unmarshal([]byte(channels), &g.channels) // a corrupt row keeps its readable parts: the next issue repairs the row
	_ = json.Unmarshal([]byte(listed), &g.listed)
	return g, nil
}

// newestGroup returns the newest group of an application and a version that began since a moment.
func newestGroup(tx *db.Tx, account int64, application, version string, since time.Time) (alertGroup, bool, error) {
	return db.One(tx, scanGroup, `SELECT `+groupColumns+` FROM rum_alert_group
		WHERE account_id = $1 AND application_id = $2 AND version = $3 AND opened_at > $4 ORDER BY opened_at DESC LIMIT 1`,
		account, application, version, since.UnixMilli())
}

// sharedGroup returns the group of a key.
func sharedGroup(tx *db.Tx, account int64, key string) (alertGroup, bool, error) {
	return db.One(tx, scanGroup, `SELECT `+groupColumns+` FROM rum_alert_group WHERE account_id = $1 AND group_key = $2`, account, key)
}

// GroupName returns the title and the description of the incident that has the issues of one group alone. Both are empty unless
// the group has several issues of one version.
func (r *Service) GroupName(tx *db.Tx, account int64, key string, now time.Time) (title, text string, err error) {
	if !strings.HasPrefix(key, "rum/") {
		return "", "", nil
	}
	g, found, err := sharedGroup(tx, account, key)
	if err != nil || !found || g.version == "" || g.issues < 2 {
		return "", "", err
	}
	a, found, err := rum.FindApplication(tx, account, g.application)
	if err != nil || !found {
		return "", "", err
	}
	return g.title(a.ApplicationName, now), g.text(r.PublicURL), nil
}

// keepGroups is how long a group is kept after its first issue. It names the incident that begins when a silence ends.
const keepGroups = 7 * 24 * time.Hour

// pruneGroups deletes old groups that share no open alert.
func pruneGroups(tx *db.Tx, account int64, now time.Time) error {
	return tx.Do(`DELETE FROM rum_alert_group WHERE account_id = $1 AND opened_at < $2
		AND NOT EXISTS (SELECT 1 FROM rum_alert a WHERE a.account_id = $1 AND a.alert_key = rum_alert_group.group_key)`,
		account, now.Add(-keepGroups).UnixMilli())
}

func (g *alertGroup) save(tx *db.Tx, account int64) error {
	channels, err := json.Marshal(g.channels)
	if err != nil {
		return err
	}
	listed, err := json.Marshal(g.listed)
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO rum_alert_group (account_id, `+groupColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (account_id, group_key) DO UPDATE SET channels = excluded.channels, severity = excluded.severity,
			issues = excluded.issues, listed = excluded.listed`,
		account, g.key, g.application, g.version, string(channels), g.severity, g.opened, g.issues, string(listed), g.sender)
}

// takes reports whether an issue may join the group without a message of its own. A client token is public: junk of one address that
// names a version must not silence the errors that others have in it. So the first issue of another address opens a second
// incident of the version, which issues of all addresses join.
func (g *alertGroup) takes(from []sender) bool {
	return g.sender == 0 || !slices.ContainsFunc(from, func(s sender) bool { return s.bounded() && s.number(g.key) != g.sender })
}

// firstSender returns the number of the sender that an issue comes from alone; 0: its senders are several, or not known.
func firstSender(from []sender, key string) int64 {
	if len(from) == 0 || !from[0].bounded() || slices.ContainsFunc(from, func(s sender) bool { return s != from[0] }) {
		return 0
	}
	return from[0].number(key)
}

// put lists an issue, the most severe issues first.
func (g *alertGroup) put(one listedIssue) {
	g.severity = higher(g.severity, one.Severity)
	g.listed = slices.DeleteFunc(g.listed, func(l listedIssue) bool { return l.Issue == one.Issue })
	at := slices.IndexFunc(g.listed, func(l listedIssue) bool { return event.Rank(l.Severity) < event.Rank(one.Severity) })
	if at < 0 {
		at = len(g.listed)
	}
	g.listed = slices.Insert(g.listed, at, one)
	g.listed = g.listed[:min(len(g.listed), maxListed)]
}

// title returns the title of a group for its application's name, such as "Shop: 7 new issues in 2.0.1". Beyond the bound,
// the title has the number of issues and the most severe issue.
func (g *alertGroup) title(application string, now time.Time) string {
	if g.version != "" {
		return event.Cut(fmt.Sprintf("%s: %s in %s", application, number(g.issues, "new issue"), g.version), event.MaxTitle)
	}
	when := "this hour"
	if now.UnixMilli()-g.opened >= hour.Milliseconds() {
		when = "within an hour"
	}
	text := fmt.Sprintf("%s in application %s %s", number(g.issues, "further new issue"), application, when)
	switch {
	case len(g.listed) > 0 && g.issues == 1:
		text += ": " + g.listed[0].Title
	case len(g.listed) > 0:
		text += ", such as " + g.listed[0].Title
	}
	return event.Cut(text, event.MaxTitle)
}

// text lists the issues.
func (g *alertGroup) text(publicURL string) string {
	var lines []string
	if g.version == "" {
		lines = append(lines, fmt.Sprintf("Of an application, %d issues open incidents within an hour, half of them by errors of one address. "+
			"These have no alert of their own:", maxAlerts))
	}
	for _, one := range g.listed {
		lines = append(lines, one.Severity+": "+event.Cut(one.Title, maxListedTitle))
	}
	if more := g.issues - int64(len(g.listed)); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	if publicURL != "" {
		lines = append(lines, strings.TrimSuffix(publicURL, "/")+"/rum/applications/"+g.application)
	}
	return event.Cut(strings.Join(lines, "\n"), event.MaxDescription)
}

// maxListedTitle is how many characters of an issue's title a list shows. All lines together fit a description.
const maxListedTitle = 150

// number returns a number with its noun: 1 error, 2 errors.
func number(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
