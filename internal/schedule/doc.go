// Package schedule stores on-call schedules and shows who is on call by them.
//
// Only internal/core/oncall computes who is on call. Every operation uses it through engine.go, so that two operations
// cannot disagree. This package must never decide by itself who is on call, never show a webhook's secrets to a caller
// without the permission to manage schedules, and never store them in clear.
package schedule

import "tocsin/internal/platform/secret"

// Service holds the dependencies of the operations on schedules.
type Service struct {
	Keyring *secret.Keyring // seals the secrets of notification webhooks

	Overridden Overridden // stores the notifications about changes of overrides; nil: none are sent
	Covered    Covered    // stores the notifications about requests for cover; nil: none are sent
}
