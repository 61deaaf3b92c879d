// Package id generates the program's identifiers and secrets.
//
// Every one of them is random enough to need no coordination between nodes.
// Public identifiers must never be treated as secrets: they appear in logs,
// addresses and replies, and some of them contain their time of creation. Only
// Token and AppKey return secrets.
package id
