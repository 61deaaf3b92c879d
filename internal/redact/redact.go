// Package redact takes secrets out of text that is kept.
package redact

// JSON keeps nothing of the body.
func JSON(body []byte, limit int) string { return "{}" }
