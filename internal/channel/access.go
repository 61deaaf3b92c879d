package channel

import (
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Readable checks that the caller may read a channel. The error is ResourceNotFound when the caller's account
// has no channel of this id, and AccessDenied when the caller may not read it (see Permit).
func Readable(tx *db.Tx, who auth.Principal, id int64) error {
	_, err := find(tx, who, id)
	return err
}

// find returns a channel that the caller may read, with the errors of Readable.
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

// PermitAll checks access to the channels that an object names. The error is AccessDenied if one is a private channel
// that the caller may not read. A deleted channel hides nothing, and 0 stands for no channel.
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

// Permit checks access to a private channel: only the account's owner, the channel's creator and members of
// its teams may read it (docs/api.md, "Data permission"). The same holds for all that belongs to the channel,
// such as its alerts. The error is AccessDenied.
func Permit(tx *db.Tx, who auth.Principal, ch Channel) error {
	if who.Asked != nil {
		who.Asked(ch.ChannelID)
	}
	return permit(tx, who, ch)
}

// permit is Permit without the report to who.Asked.
func permit(tx *db.Tx, who auth.Principal, ch Channel) error {
	if !ch.IsPrivate || who.Owner || ch.CreatorID != 0 && ch.CreatorID == who.PersonID {
		return nil
	}
	member, err := auth.InTeam(tx, who, ch.teams()...)
	if err != nil {
		return err
	}
	if !member {
		return fault.Denied("channel %d is private and this key's person is not in its team %d", ch.ChannelID, ch.TeamID)
	}
	return nil
}
