package phone

import (
	"context"
	"regexp"

	"tocsin/internal/engine/notify"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/sender"
	"tocsin/internal/sender/twilio"
)

// command is a text message that is a reply: a digit, and the code of the message that it is about.
var command = regexp.MustCompile(`^\s*([4-79])(?:\s+(\d{4}))?\s*\.?\s*$`)

// alreadyDone is the reply to a digit that came twice.
const alreadyDone = "That was done already."

// reply acts on a text message from a number and returns the reply; empty: none is sent. Only a digit is replied to,
// because a reply to anything else could go on for ever with a program that replies too.
func (s *Service) reply(ctx context.Context, sid, from, text string) (answer string, err error) {
	parts := command.FindStringSubmatch(text)
	number, ok := twilio.Number(from)
	if parts == nil || !ok || sid == "" {
		return "", nil
	}
	digit, code := parts[1], parts[2]
	var to *notify.PhonePage
	err = s.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		to, answer, err = s.repliedTo(tx, number, sid, digit, code)
		return err
	})
	if err != nil || to == nil || !to.Asks() && replies[digit] != "" && digit != sender.DigitAck {
		return answer, err
	}
	a, err := s.press(ctx, to, sid, digit)
	return a.text, err
}

// repliedTo returns the text message that a reply from a number is about, or why there is none; both
// are empty if no person has the number. A person of several accounts replies to the latest.
func (s *Service) repliedTo(tx *db.Tx, number, sid, digit, code string) (to *notify.PhonePage, why string, err error) {
	persons, err := person.WithPhone(tx, number)
	if err != nil || len(persons) == 0 {
		return nil, "", err
	}
	latest := int64(0)
	for _, who := range persons {
		done, err := recorded(tx, who.AccountID, sid, digit)
		if err != nil || done {
			return nil, alreadyDone, err
		}
		p, at, found, err := notify.Replied(tx, who.AccountID, who.PersonID, code, s.Clock.Now())
		if err != nil {
			return nil, "", err
		}
		if found && at > latest {
			to, latest = &p, at
		}
	}
	switch {
	case to != nil:
		return to, "", nil
	case code != "":
		return nil, "No message of the last week has the code " + code + ".", nil
	}
	return nil, "There is no message of the last week to reply to.", nil
}
