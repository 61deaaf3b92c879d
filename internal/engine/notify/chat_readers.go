package notify

import (
	"slices"

	"tocsin/internal/channel"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/team"
)

// maxReaders is how many persons the page of a link in a chat lists.
const maxReaders = 100

// chatReaders returns who may act on an incident through the link in a chat: the responsible persons and the team of its
// channel. The link cannot know who follows it, so its reader chooses one. Everyone in the chat is trusted that
// far; the feed records that it came from a chat.
func chatReaders(tx *db.Tx, i *incident.Incident) (readers []Person, err error) {
	ids := slices.Clone(i.Responders())
	ch, _, err := channel.Find(tx, i.AccountID, i.ChannelID)
	if err != nil {
		return nil, err
	}
	if ch.TeamID != 0 {
		members, err := team.Members(tx, i.AccountID, ch.TeamID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, members...)
	}
	seen := map[int64]bool{}
	for _, id := range ids {
		if seen[id] || len(readers) == maxReaders {
			continue
		}
		seen[id] = true
		p, found, err := Find(tx, i.AccountID, id)
		if err != nil {
			return nil, err
		}
		if found {
			readers = append(readers, p)
		}
	}
	return readers, nil
}
