package incident

import (
	"maps"
	"slices"
	"strings"

	"tocsin/internal/platform/db"
)

const (
	maxSearchText  = 16 << 10 // bytes of an incident that a search looks in
	maxSearchLabel = 255      // characters of one label value
)

// searchText returns the folded text that a search looks in: the title, the name that people read, the label values by name, and
// the description. The names of the incident's alerts are looked for in the alerts.
// It is never empty, because an empty column means that the text is not computed yet. A long label cannot push out the
// description, and the whole is bounded: every search of an account reads all texts of its window.
func (r *Incident) searchText() string {
	var b strings.Builder
	b.WriteString(r.Title)
	if name := r.Name(nil); name != r.Title {
		b.WriteString("\n" + name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		b.WriteByte('\n')
		b.WriteString(firstRunes(r.Labels[name], maxSearchLabel))
	}
	b.WriteByte('\n')
	b.WriteString(r.Description)
	text := b.String()
	if len(text) > maxSearchText {
		text = strings.ToValidUTF8(text[:maxSearchText], "")
	}
	return db.Fold(text)
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// searchID returns what a searched text finds identifiers by: a whole identifier, or the last six digits that people see as the
// number, with or without #. Any other text returns a value that no identifier has.
func searchID(text string) string {
	id := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(text), "#"))
	if len(id) != 24 && len(id) != 6 || strings.Trim(id, "0123456789abcdef") != "" {
		return "-"
	}
	return id
}

// completeBatch is the number of incidents that Complete reads at once, to bound its memory.
const completeBatch = 1000

// Complete stores the search texts that an older version did not store. A row whose details cannot be read is found by
// its title.
func Complete(tx *db.Tx) error {
	type row struct {
		account int64
		Incident
	}
	read := func(scan db.Scan) (r row, err error) {
		var body string
		if err := scan(&r.account, &r.IncidentID, &r.Title, &body); err != nil {
			return r, err
		}
		_ = r.parse(body)
		return r, nil
	}
	for {
		rows, err := db.All(tx, read, `SELECT account_id, incident_id, title, body FROM incident
			WHERE search_folded = '' LIMIT $1`, completeBatch)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			if err := tx.Do(`UPDATE incident SET search_folded = $1 WHERE account_id = $2 AND incident_id = $3`,
				r.searchText(), r.account, r.IncidentID); err != nil {
				return err
			}
		}
	}
}
