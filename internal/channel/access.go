package channel

import (
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Readable finds a channel for a caller: ResourceNotFound when the caller's account has none of this id,
// AccessDenied when it may not be read (see Permit).
func Readable(tx *db.Tx, who auth.Principal, id int64) error {
	_, err := find(tx, who, id)
	return err
}

// find is Readable with the channel.
func find(tx *db.Tx, who auth.Principal, id int64) (Channel, error) {
	ch, found, err := Find(tx, who.AccountID, id)
	if err != nil {
		return ch, err
	}
	if !found {
		return ch, fault.Missing("channel", id)
	}
	return ch, Permit(tx, who, ch)
}

// PermitAll refuses what names a private channel that the caller may not read. A channel that is gone hides nothing,
// and 0 stands for none.
func PermitAll(tx *db.Tx, who auth.Principal, ids ...int64) error {
	for _, id := range ids {
		if id == 0 {
			continue
		}
		if err := Readable(tx, who, id); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	return nil
}

// Permit refuses a private channel to whoever is not the account's owner, its creator or in one of its teams
// (docs/api.md, "Data permission"). What belongs to a channel, such as an alert, is as private as it.
func Permit(tx *db.Tx, who auth.Principal, ch Channel) error {
	if who.Asked != nil {
		who.Asked(ch.ChannelID)
	}
	return permit(tx, who, ch)
}

func permit(tx *db.Tx, who auth.Principal, ch Channel) error {
	if !ch.IsPrivate || who.Owner || ch.CreatorID != 0 && ch.CreatorID == who.PersonID {
		return nil
	}
	member, err := auth.InTeam(tx, who, ch.teams()...)
	if err == nil && !member {
		err = fault.Denied("channel %d is private and this key's person is not in its team %d", ch.ChannelID, ch.TeamID)
	}
	return err
}
