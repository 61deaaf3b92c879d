package email

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wneessen/go-mail"

	"tocsin/internal/sender"
)

// maxSubject is the highest number of characters of a subject.
const maxSubject = 200

func (s Server) message(to string, m sender.Message, now time.Time) (*mail.Msg, error) {
	msg := mail.NewMsg()
	if err := msg.From(s.From); err != nil {
		return nil, fmt.Errorf("the sender's address %q: %w", s.From, err)
	}
	if err := msg.To(to); err != nil {
		return nil, fmt.Errorf("the address %q: %w", to, err)
	}
	from, err := msg.GetSender(false)
	if err != nil {
		return nil, fmt.Errorf("the sender's address %q: %w", s.From, err)
	}
	domain := strings.Trim(from[strings.LastIndex(from, "@")+1:], "<>")
	msg.SetUserAgent("Tocsin")
	if subject := sender.Line(m.Subject, maxSubject); strings.Contains(subject, "=?") {
		msg.SetGenHeaderPreformatted(mail.HeaderSubject, encoded(subject))
	} else {
		msg.Subject(subject)
	}
	msg.SetDateWithValue(now)
	msg.SetMessageIDWithValue(messageID(m.Key+to, domain))
	if m.Thread != "" {
		root := "<" + messageID("thread "+m.Thread+to, domain) + ">"
		msg.SetGenHeader(mail.HeaderReferences, root)
		msg.SetGenHeader(mail.HeaderInReplyTo, root)
	}
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader("X-Tocsin-Key", line(m.Key))
	if m.Severity == "Critical" {
		msg.SetImportance(mail.ImportanceUrgent)
	}
	msg.SetBodyString(mail.TypeTextPlain, string(m.Text))
	if m.HTML != "" {
		msg.AddAlternativeString(mail.TypeTextHTML, string(m.HTML))
	}
	return msg, nil
}

// line returns a text as one line.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// encoded returns a text as encoded words, one on each line. The library encodes only non-ASCII text, but mail
// programs decode any text that looks encoded and would show another subject.
func encoded(s string) string {
	const most = 39 // bytes, so that no line is longer than 76 (RFC 2047, 2), the first one too
	var words []string
	for word := ""; s != ""; word = "" {
		for _, r := range s {
			if len(word)+utf8.RuneLen(r) > most {
				break
			}
			word += string(r)
		}
		words, s = append(words, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(word))+"?="), s[len(word):]
	}
	return strings.Join(words, "\r\n ")
}

// messageID returns the same ID for every attempt, so that a mail that arrives twice is recognised as one.
func messageID(of, domain string) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:16]) + "@" + domain
}
