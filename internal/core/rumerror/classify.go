package rumerror

import (
	"strings"

	"tocsin/internal/core/event"
)

// The suspected causes of an issue.
const (
	FailedRequest   = "api.failed_request"
	NetworkError    = "network.error"
	Exception       = "code.exception"
	InvalidAccess   = "code.invalid_object_access"
	InvalidArgument = "code.invalid_argument"
	Unknown         = "unknown"
)

var (
	invalidJSON     = compiled(`(?i)unexpected token .*is not valid json`)
	nullAccess      = compiled(`(?i)(?:of|is) (?:undefined|null)|(?:undefined|null) is not an object|can't access property`)
	invalidArgument = compiled(`(?i)invalid argument|unexpected token`)
	failedRequest   = compiled(`API ERROR:|(?i)\blicen[cs]e\b`)
	network         = compiled(`(?i)time(?:d )?-?out|connection|\bdns\b`)
)

// SuspectedCause returns the suspected cause of an error. The first rule that matches decides.
func SuspectedCause(e *Error) string {
	kind := func(names ...string) bool {
		for _, name := range names {
			if strings.Contains(e.Type, name) {
				return true
			}
		}
		return false
	}
	switch {
	case invalidJSON().MatchString(e.Message):
		return InvalidArgument
	case e.Request.Status >= 400 && e.Request.Status <= 599:
		return FailedRequest
	case kind("Network", "AbortError"):
		return NetworkError
	case kind("Syntax", "Reference", "Range", "URI", "Eval"):
		return Exception
	case kind("TypeError") && nullAccess().MatchString(e.Message):
		return InvalidAccess
	case invalidArgument().MatchString(e.Message):
		return InvalidArgument
	case failedRequest().MatchString(e.Message):
		return FailedRequest
	case network().MatchString(e.Message):
		return NetworkError
	}
	return Unknown
}

var (
	criticalWords = compiled(
		`(?i)\b(?:fatal|crash|out of memory|stack overflow|call stack|payment|checkout|login|data loss|corrupt)`)
	warningWords = compiled(`(?i)\b(?:timeout|timed out|failed|failure|unavailable|denied|refused|forbidden)`)
	production   = compiled(`(?i)^(?:prod|production|prd|live)$`)
	staging      = compiled(`(?i)^(?:stage|staging|stg|pre|preprod|uat)$`)
)

// oldAge is the age, in seconds, from which an issue is no news: its severity is Info.
const oldAge = 7 * 24 * 3600

// Severity returns the severity of an issue at one of its errors. age is how long it has gone on, in seconds. A crash is
// Critical, an issue that is older than a week Info; else points are added for the environment, for words of the
// message, for the cause and for the age.
func Severity(e *Error, cause string, age int64) string {
	switch {
	case e.Crash:
		return event.Critical
	case age > oldAge:
		return event.Info
	}
	points := 10
	switch {
	case production().MatchString(e.Env):
		points = 50
	case staging().MatchString(e.Env):
		points = 30
	}
	switch text := e.Type + " " + e.Message; {
	case criticalWords().MatchString(text):
		points += 30
	case warningWords().MatchString(text):
		points += 15
	}
	switch cause {
	case FailedRequest:
		points += 20
	case Exception, InvalidAccess, InvalidArgument:
		points += 15
	default:
		points += 5
	}
	switch {
	case age > 24*3600:
		points += 20
	case age > 12*3600:
		points += 10
	}
	switch {
	case points >= 70:
		return event.Critical
	case points >= 40:
		return event.Warning
	}
	return event.Info
}
