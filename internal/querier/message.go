package querier

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
)

// maxMessage is the length of a failure's message, in characters.
const maxMessage = 500

// quoted is a long text in quotes: of a query, or of data.
var quoted = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.){41,}\"|'(?:[^'\\\\]|\\\\.){41,}'|`[^`]{41,}`")

// Message returns what a datasource wrote about a query as a message, which begins with its host.
func Message(host, text, expr string, secrets []string) string {
	return cut(host + " " + scrub(text, expr, secrets))
}

// scrub returns what a datasource wrote as a part of a message: without the query, secrets and control characters.
func scrub(text, expr string, secrets []string) string {
	text = strings.ToValidUTF8(text, "")
	if len(text) > 1<<14 {
		text = strings.ToValidUTF8(text[:1<<14], "")
	}
	for _, secret := range secrets {
		if len(secret) > 3 { // a shorter one may be a part of any word, and is hardly a secret
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	for _, q := range []string{strconv.Quote(expr), strings.TrimSpace(expr)} {
		if len(q) > 7 { // a shorter one may be a part of any word
			text = strings.ReplaceAll(text, q, "the query")
		}
	}
	text = quoted.ReplaceAllString(text, "…")
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// cut cuts a message to its bound.
func cut(message string) string {
	if runes := []rune(message); len(runes) > maxMessage {
		return string(runes[:maxMessage-1]) + "…"
	}
	return message
}

// connectionFailures maps the phases of egress to kinds and phases of failures.
var connectionFailures = map[egress.Phase]evaluate.Failure{
	egress.Malformed:      {Kind: evaluate.Unreachable, Phase: PhaseResolve},
	egress.Refused:        {Kind: evaluate.Unreachable, Phase: PhaseDial},
	egress.Dial:           {Kind: evaluate.Unreachable, Phase: PhaseDial},
	egress.TLS:            {Kind: evaluate.Unreachable, Phase: PhaseTLS},
	egress.TimeoutConnect: {Kind: evaluate.Unreachable, Phase: PhaseDial},
	egress.TimeoutHeaders: {Kind: evaluate.Timeout, Phase: PhaseQuery},
	egress.TimeoutBody:    {Kind: evaluate.Timeout, Phase: PhaseRead},
	egress.TooLarge:       {Kind: evaluate.TooMuch, Phase: PhaseRead},
	egress.EOF:            {Kind: evaluate.Unreachable, Phase: PhaseRead},
	egress.Other:          {Kind: evaluate.Unreachable, Phase: PhaseQuery},
}

// FailureOf returns the failure of a connection.
func FailureOf(err error) *evaluate.Failure {
	f := connectionFailures[egress.Other]
	if known := new(egress.Failure); errors.As(err, &known) {
		f = connectionFailures[known.Phase]
	}
	f.Message = cut(err.Error())
	return &f
}
