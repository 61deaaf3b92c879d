package channel

import (
	"tocsin/internal/auth"
	"tocsin/internal/db"
	"tocsin/internal/fault"
)

// Readable finds a channel for a caller: ResourceNotFound when the caller's account has none of this id,
// AccessDenied when it may not be read (see Permit).
func Readable(tx *db.Tx, who auth.Principal, id int64) error {
	ch, found, err := Find(tx, who.AccountID, id)
	if err != nil {
		return err
	}
	if !found {
		return fault.Missing("channel", id)
	}
	return Permit(tx, who, ch)
}

// Permit refuses a private channel to whoever is neither in its team nor the account's owner
// (docs/api.md, 10, "Channel rules"). What belongs to a channel, such as an alert, is as private as it.
func Permit(tx *db.Tx, who auth.Principal, ch Channel) error {
	if !ch.IsPrivate || who.Owner {
		return nil
	}
	member, err := auth.InTeam(tx, who, ch.TeamID)
	if err == nil && !member {
		err = fault.Denied("channel %d is private and this key's person is not in its team %d", ch.ChannelID, ch.TeamID)
	}
	return err
}
