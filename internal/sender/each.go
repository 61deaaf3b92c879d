package sender

import (
	"errors"
	"strings"

	"tocsin/internal/core/sentence"
)

// Each sends to all chats of a list, also after one has failed. The receipt holds the IDs of the messages sent.
// The error is the first one. It may be retried if any may be; the chats that took the message get it twice then.
func Each(ids []string, send func(id string) (Receipt, error)) (Receipt, error) {
	if len(ids) == 0 {
		return Receipt{}, &Error{Message: sentence.Raw("chat_ids: at least one chat is needed")}
	}
	var all Receipt
	var first *Error
	taken := []string{}
	for _, id := range ids {
		receipt, err := send(id)
		var failed *Error
		switch {
		case err == nil:
			taken = append(taken, receipt.ID)
		case !errors.As(err, &failed):
			failed = &Error{Message: sentence.Raw(err.Error())}
		}
		if failed != nil && first == nil {
			first, all = &Error{Message: sentence.New("chat_said", id, failed.Message)}, receipt
		}
		if failed != nil {
			first.Retry = first.Retry || failed.Retry
			first.After = max(first.After, failed.After)
		}
		if first == nil {
			all = receipt
		}
	}
	all.ID = strings.Join(taken, ",")
	if first != nil {
		return all, first
	}
	return all, nil
}
