package twilio

import (
	"encoding/xml"
	"fmt"
	"unicode/utf8"

	"tocsin/internal/sender"
)

// maxTwiML is the most bytes of the TwiML that a request for a call may hold.
const maxTwiML = 4000

// The elements of TwiML that are used.
type (
	response struct {
		XMLName xml.Name `xml:"Response"`
		Verbs   []any
	}
	say struct {
		XMLName xml.Name `xml:"Say"`
		Text    string   `xml:",chardata"`
	}
	pause struct {
		XMLName xml.Name `xml:"Pause"`
	}
	gather struct {
		XMLName   xml.Name `xml:"Gather"`
		Input     string   `xml:"input,attr"`
		NumDigits int      `xml:"numDigits,attr"`
		Timeout   int      `xml:"timeout,attr"`
		Action    string   `xml:"action,attr"`
		Verbs     []any
	}
	message struct {
		XMLName xml.Name `xml:"Message"`
		Text    string   `xml:",chardata"`
	}
)

// Page returns the TwiML of a call: it reads a text out twice, with what may be pressed if p is set. A text that is too long
// for the request is cut.
func Page(text string, p *sender.Phone) string {
	room := (maxTwiML - len(page("", p))) / 2
	return page(sender.Fit(text, max(room, 0), escaped), p)
}

func page(text string, p *sender.Phone) string {
	verbs := []any{say{Text: text}, pause{}, say{Text: text}}
	if p.Digits() == "" {
		return encode(verbs...)
	}
	menu := say{Text: fmt.Sprintf("Press %s to acknowledge, %s to hear this again.", sender.DigitAck, sender.DigitRepeat)}
	if p.Asks {
		menu.Text = fmt.Sprintf("Press %s if you are still on it, %s to be asked again in 4 hours, %s not to be asked again, "+
			"%s to give it back, %s to hear this again.",
			sender.DigitAck, sender.DigitLater, sender.DigitNever, sender.DigitBack, sender.DigitRepeat)
	} else if p.Escalate {
		menu.Text = fmt.Sprintf("Press %s to acknowledge, %s to escalate, %s to hear this again.",
			sender.DigitAck, sender.DigitEscalate, sender.DigitRepeat)
	}
	return encode(gather{
		Input: "dtmf", NumDigits: 1, Timeout: 10, Action: p.Callback + DigitPath,
		Verbs: []any{say{Text: text}, menu, pause{}, say{Text: text}, menu},
	}, say{Text: "Nothing was pressed. Goodbye."})
}

// Speak returns the TwiML that reads a text out and hangs up.
func Speak(text string) string { return encode(say{Text: text}) }

// Reply returns the TwiML that replies to a text message; an empty text sends no reply.
func Reply(text string) string {
	if text == "" {
		return encode()
	}
	return encode(message{Text: sender.Cut(text, maxText)})
}

func encode(verbs ...any) string {
	text, err := xml.Marshal(response{Verbs: verbs})
	if err != nil { // none of the types above can fail
		panic(err)
	}
	return xml.Header + string(text)
}

// escaped measures a character in bytes, as the encoder escapes it.
func escaped(r rune) int {
	switch {
	case r == '"' || r == '\'' || r == '&' || r == '\t' || r == '\n' || r == '\r':
		return 5
	case r == '<' || r == '>':
		return 4
	case r < 0x20 || r == 0xFFFE || r == 0xFFFF:
		return utf8.RuneLen(utf8.RuneError)
	}
	return utf8.RuneLen(r)
}
