package integration

import (
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"tocsin/internal/configstore"
	"tocsin/internal/core/event"
	"tocsin/internal/platform/db"
	"tocsin/internal/source"
)

// freeWords lists the types of sources that send any word as a severity. Severities of other types are fixed.
var freeWords = []string{"prometheus", "grafana"}

// maxSeverityMap is how many words an integration may map.
const maxSeverityMap = 100

// Severities returns the words that the integration maps.
func (i *Integration) Severities() source.SeverityMap {
	if i.Settings == nil {
		return nil
	}
	return i.Settings.SeverityMap
}

// checkSeverityMap returns fault.Invalid for a map that the integration cannot have. checkSeverityMap rewrites the words to
// the form in which words are compared.
func (i *Integration) checkSeverityMap(at configstore.RecordPath) error {
	words := i.Severities()
	switch {
	case len(words) == 0:
		return nil
	case !slices.Contains(freeWords, i.IntegrationType):
		return at.Invalid("severity_map", "is for prometheus and grafana, not for the type %s, whose severities are fixed", i.IntegrationType)
	case len(words) > maxSeverityMap:
		return at.Invalid("severity_map", "must have at most %d words, got %d", maxSeverityMap, len(words))
	}
	folded := make(source.SeverityMap, len(words))
	for _, word := range slices.Sorted(maps.Keys(words)) {
		key := source.SeverityKey(word)
		if _, twice := folded[key]; twice {
			return at.Invalid("severity_map", "has %q twice: case and spaces around do not matter", key)
		}
		if n := utf8.RuneCountInString(word); key == "" || n > event.MaxSeverityWord {
			return at.Invalid("severity_map", "must have words of 1 to %d characters, %.70q has %d", event.MaxSeverityWord, word, n)
		}
		if severity := words[word]; event.Rank(severity) == 0 {
			return at.Invalid("severity_map", "must map %q to Critical, Warning or Info, got %.60q", key, severity)
		}
		folded[key] = words[word]
	}
	s := *i.Settings
	s.SeverityMap = folded
	i.Settings = &s
	return nil
}

// UnknownSeverity is a word that an integration sent as a severity and that neither Tocsin nor the integration's map has.
type UnknownSeverity struct {
	Word   string `json:"word" doc:"The word, in lower case; of a longer one 64 characters."`
	Events int64  `json:"events" doc:"How many events had it since it came for the first time."`
	LastAt int64  `json:"last_at" doc:"When it came last, Unix seconds."`
}

const (
	// MaxUnknownSeverities is how many words are kept of an integration: the words that came last. Senders choose the words.
	MaxUnknownSeverities = 20
	// unknownKept is for how long a word is kept after it came last.
	unknownKept = 30 * 24 * time.Hour
)

// AddUnknownSeverities adds the events of an integration that had unknown severities, by word.
func AddUnknownSeverities(tx *db.Tx, account, integration int64, events map[string]int64, now time.Time) error {
	for _, word := range slices.Sorted(maps.Keys(events)) { // in order, because processes lock the same rows
		err := tx.Do(`INSERT INTO unknown_severity (account_id, integration_id, word, events, last_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (account_id, integration_id, word) DO UPDATE
				SET events = unknown_severity.events + excluded.events, last_at = excluded.last_at`,
			account, integration, word, events[word], now.Unix())
		if err != nil {
			return err
		}
	}
	return tx.Do(`DELETE FROM unknown_severity WHERE account_id = $1 AND integration_id = $2 AND word NOT IN (
			SELECT word FROM unknown_severity WHERE account_id = $1 AND integration_id = $2
				ORDER BY last_at DESC, events DESC, word LIMIT $3 + 0)`,
		account, integration, MaxUnknownSeverities)
}

// UnknownSeverities returns the unknown severities of an integration, the latest first. A word that the integration maps now
// is known.
func (i *Integration) UnknownSeverities(tx *db.Tx, account int64) ([]UnknownSeverity, error) {
	words, err := db.All(tx, func(scan db.Scan) (u UnknownSeverity, err error) { return u, scan(&u.Word, &u.Events, &u.LastAt) },
		`SELECT word, events, last_at FROM unknown_severity WHERE account_id = $1 AND integration_id = $2
			ORDER BY last_at DESC, events DESC, word`, account, i.IntegrationID)
	mapped := i.Severities()
	return slices.DeleteFunc(words, func(u UnknownSeverity) bool { return mapped[u.Word] != "" }), err
}

// pruneUnknown deletes the words that have not come for unknownKept.
func pruneUnknown(tx *db.Tx, now time.Time) (more bool, err error) {
	return false, tx.Do(`DELETE FROM unknown_severity WHERE last_at <= $1`, now.Add(-unknownKept).Unix())
}
