// Package configstore stores an account's configuration: the objects that are read as a whole (object.go), which object
// refers to which (reference.go), the revision that counts changes and the cache that it keys (revision.go, cache.go), and
// the checks of account file records (check.go).
//
// A noun describes its objects in a Kind. It gets storing, paging, searching, references and its section of the account
// file from here. References are written in the transaction in which an object changes, so that nothing is deleted while
// something else needs it. Callers that cache derived configuration rebuild it when the revision changes.
//
// It must never know what an object means, decide whether a referenced object exists, store a secret in clear, or count
// what happens to alerts and incidents: that would empty every cache with each event.
package configstore
