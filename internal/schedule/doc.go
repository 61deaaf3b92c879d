// Package schedule is the room of on-call schedules: it stores what was configured and shows who is on
// call because of it.
//
// Who is on call is computed by internal/core/oncall and nowhere else. Everything here that shows it goes
// through engine.go, so that two operations cannot disagree. This package must never decide by itself
// who is on call, never show a webhook's secrets to a caller who may only read, and never store them in
// clear.
package schedule

import "tocsin/internal/platform/secret"

// Service is what the operations on schedules stand on.
type Service struct {
	Keyring *secret.Keyring // keeps the secrets of notification webhooks
}
