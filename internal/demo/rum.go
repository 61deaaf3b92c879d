package demo

import (
	"slices"
	"time"

	"tocsin/internal/rum"
)

// Identifiers that the example calls name.
const (
	shopWeb  = "bGf7Kx3QmZr9TnWdYc5HpJ"
	shopIOS  = "Nw4sVe8LqXtAz6RkCh2YmD"
	theIssue = "Hq5TzWn8cRk3XvYb6LdMpG"
)

// found is an issue in short form: first and last are the times since it was seen.
type found struct {
	id, service           string
	application           int // index in the applications of account.json
	kind, message         string
	cause                 string
	severity              string
	errors, sessions      int64
	first, last           time.Duration
	versions              []string
	status                string
	reason                string
	crash, foundByPersons bool
}

func rumIssues(m moments) []rum.Issue {
	web := []string{"2026.4.1", "2026.4.2"}
	ios := []string{"5.1.3", "5.2.0"}
	android := []string{"5.1.0", "5.1.3"}
	scan := []string{"1.9.0"}
	list := []found{
		{theIssue, "shop-web", 0, "TypeError", "Cannot read properties of undefined (reading 'price')", "code.invalid_object_access", "Critical",
			4120, 1893, 5 * day, 4 * time.Minute, web, "for_review", "The price of a bundle is read before it has been loaded.", false, false},
		{"Xr2KmVn7ThYc4QzLw9GbEp", "shop-web", 0, "ApiError", "POST /api/basket/items answered 502", "api.failed_request", "Critical", 967, 611,
			26 * time.Minute, time.Minute, web[1:], "for_review", "The basket service answers with 502 since this release.", false, false},
		{"Bd8WqTs3HnRy6ZkXf4MvCj", "checkout", 0, "ChunkLoadError", "Loading chunk 417 failed", "network.error", "Warning", 388, 352, 12 * day,
			3 * hour, web, "reviewed", "Old pages ask for files of a release that is gone.", false, true},
		{"Lk5YzGe9PcVt2NwRh7DxQm", "checkout", 0, "RangeError", "Invalid time value", "code.invalid_argument", "Warning", 74, 70, 9 * day,
			8 * hour, web, "for_review", "", false, false},
		{"Sv3CnBx8WfKq5TzYd9RjHg", "shop-web", 0, "Error", "ResizeObserver loop completed with undelivered notifications", "unknown", "Info",
			15208, 6044, 200 * day, 2 * time.Minute, web, "ignored", "", false, true},
		{"Pm7RtLd4XyZw2KcNh8VbGe", "search", 0, "SyntaxError", "Unexpected end of JSON input", "code.exception", "Info", 19, 19, 3 * day,
			30 * hour, web[1:], "for_review", "", false, false},
		{"Gw9HxQj3TnCy6BvMk5RzDs", "shop-web", 0, "TypeError", "Failed to fetch", "network.error", "Info", 2210, 1730, 90 * day, 10 * time.Minute,
			web, "reviewed", "", false, false},
		{"Jc4VbNy8LmWt7KxPe2GqZr", "shop-ios", 1, "EXC_BAD_ACCESS", "KERN_INVALID_ADDRESS at 0x10 in ProductView.body",
			"code.invalid_object_access", "Critical", 480, 466, 7 * hour, 6 * time.Minute, ios[1:], "for_review",
			"The picture is released while it is being drawn.", true, false},
		{"Dz6TkHw3RcXq9YnVm5LgBs", "shop-ios", 1, "NSRangeException", "index 3 beyond bounds [0 .. 2]", "code.invalid_argument", "Critical", 58,
			55, 40 * day, 20 * hour, ios, "for_review", "", true, false},
		{"Fy2MxGt7ZpJd4WkCn8QvRh", "shop-ios", 1, "URLError", "The request timed out.", "network.error", "Info", 903, 744, 120 * day, hour, ios,
			"ignored", "", false, false},
		{"Rb5QzLe9KwNc3TyXh7VmPd", "shop-android", 2, "NullPointerException", "Attempt to invoke virtual method on a null object reference",
			"code.invalid_object_access", "Critical", 211, 198, 16 * day, 5 * hour, android, "for_review", "", true, false},
		{"Wn8CvTj4YgBx6ZkRq2HsMf", "shop-android", 2, "OutOfMemoryError", "Failed to allocate a 48 MB bitmap", "code.exception", "Critical", 96,
			93, 6 * day, 2 * hour, android[1:], "reviewed", "Pictures of the new size are not scaled down.", true, true},
		{"Tq3XeDm7LpVz9NcWy5KbGr", "shop-android", 2, "SSLHandshakeException", "Chain validation failed", "network.error", "Info", 31, 28,
			60 * day, 25 * day, android[:1], "resolved", "The clock of the device is wrong.", false, false},
		{
			"Hk6ZwRn2YtBc8QxVj4MdLs",
			"scanner",
			3,
			"PlatformException",
			"camera_error: device is locked",
			"unknown",
			"Info",
			44,
			12,
			33 * day,
			2 * day,
			scan,
			"for_review",
			"",
			false,
			false,
		},
		{"Vg4LyCt9XmKe7PzNh3WqBd", "scanner", 3, "SocketException", "Connection reset by peer", "network.error", "Warning", 340, 21, 45 * day,
			3 * hour, scan, "for_review", "The wireless network of hall 2 drops out.", false, false},
	}
	applications := configured(m).Applications
	issues := make([]rum.Issue, len(list))
	for i, f := range list {
		issues[i] = f.issue(m, applications[f.application])
	}
	back := &issues[1] // it was resolved and occurred again with the release
	back.Regression = &rum.Regression{
		RegressedAt:        back.FirstSeen.Timestamp,
		RegressedAtVersion: back.FirstSeen.Version,
		ResolvedAt:         m.ago(21 * day).UnixMilli(),
	}
	back.FirstSeen = rum.Seen{Timestamp: m.ago(30 * day).UnixMilli(), Version: web[0]}
	back.Versions, back.CreatedAt = web, back.FirstSeen.Timestamp
	back.Age = (back.LastSeen.Timestamp - back.FirstSeen.Timestamp) / 1000
	return issues
}

func (f found) issue(m moments, a rum.Application) rum.Issue {
	first, last := m.ago(f.first).UnixMilli(), m.ago(f.last).UnixMilli()
	r := rum.Issue{
		TeamID: a.TeamID, IssueID: f.id, ApplicationID: a.ApplicationID, ApplicationName: a.ApplicationName, Service: f.service,
		Status: f.status, ErrorCount: f.errors, SessionCount: f.sessions, IsCrash: f.crash, Age: (last - first) / 1000,
		CreatedAt: first, UpdatedAt: last + 2000, FirstSeen: rum.Seen{Timestamp: first, Version: f.versions[0]},
		LastSeen: rum.Seen{Timestamp: last, Version: f.versions[len(f.versions)-1]}, Error: rum.Error{Message: f.message, Type: f.kind},
		SuspectedCause: rum.Cause{Source: "auto", Value: f.cause, Reason: f.reason}, Versions: slices.Clone(f.versions), Severity: f.severity,
	}
	if f.foundByPersons {
		r.SuspectedCause.Source, r.SuspectedCause.PersonID = "user", siobhan
	}
	if f.status == "resolved" {
		r.ResolvedAt, r.ResolvedBy = last+int64(day/time.Millisecond), lina
	}
	return r
}
