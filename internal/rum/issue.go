package rum

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Issue is a group of errors with the same cause.
type Issue struct {
	TeamID          int64       `json:"team_id" doc:"The application's team."`
	IssueID         string      `json:"issue_id" maxLength:"255" doc:"The issue's identifier."`
	ApplicationID   string      `json:"application_id" maxLength:"255" doc:"The application whose errors these are."`
	ApplicationName string      `json:"application_name" maxLength:"255" doc:"The application's name."`
	Service         string      `json:"service" maxLength:"1024" doc:"The service, as the SDK names it."`
	Status          string      `json:"status" enum:"for_review,reviewed,ignored,resolved" doc:"The state that people have set."`
	ErrorCount      int64       `json:"error_count" doc:"The number of errors."`
	SessionCount    int64       `json:"session_count" doc:"The number of sessions with the error."`
	IsCrash         bool        `json:"is_crash" doc:"It ended the application."`
	Age             int64       `json:"age" doc:"Seconds from when it was first seen to when it was last seen."`
	ResolvedAt      int64       `json:"resolved_at" doc:"Unix milliseconds; 0: not resolved."`
	ResolvedBy      int64       `json:"resolved_by" doc:"The person who resolved it; 0: none."`
	CreatedAt       int64       `json:"created_at" doc:"Unix milliseconds."`
	UpdatedAt       int64       `json:"updated_at" doc:"Unix milliseconds."`
	FirstSeen       Seen        `json:"first_seen" doc:"When and in which version it occurred first."`
	LastSeen        Seen        `json:"last_seen" doc:"When and in which version it occurred last."`
	Error           Error       `json:"error" doc:"The error itself."`
	SuspectedCause  Cause       `json:"suspected_cause" doc:"The suspected cause."`
	Regression      *Regression `json:"regression,omitempty" doc:"Present only if it occurred again after it was resolved."`
	Versions        []string    `json:"versions" maxItems:"10000" maxLength:"255" doc:"The versions in which it occurred."`
	Severity        string      `json:"severity" maxLength:"16" doc:"Critical, Warning or Info."`
	NoAlert         string      `json:"no_alert,omitzero" enum:"resize_observer_loop,script_error,browser_extension," doc:"Why its newest errors open no alert: a loop of ResizeObserver, an error of a script of another origin, of which browsers hide everything, or one that a browser extension threw; absent: they may open one."`
}

// Seen is a moment at which an issue was seen.
type Seen struct {
	Timestamp int64  `json:"timestamp" doc:"Unix milliseconds."`
	Version   string `json:"version" maxLength:"255" doc:"The application's version; may be empty."`
}

// Error is the message and type that an issue's errors share.
type Error struct {
	Message string `json:"message" maxLength:"65536" doc:"The error's message."`
	Type    string `json:"type" maxLength:"1024" doc:"The error's type."`
}

// Cause is the suspected cause of an issue.
type Cause struct {
	Source   string `json:"source" enum:"auto,user," doc:"Where the cause comes from: auto or user."`
	Value    string `json:"value" enum:"api.failed_request,network.error,code.exception,code.invalid_object_access,code.invalid_argument,unknown," doc:"The cause."`
	Reason   string `json:"reason" maxLength:"6144" doc:"The reason, in words."`
	PersonID int64  `json:"person_id" doc:"The person who set it; 0: none."`
}

// Regression describes that a resolved issue occurred again.
type Regression struct {
	RegressedAt        int64  `json:"regressed_at" doc:"When it occurred again, Unix milliseconds."`
	RegressedAtVersion string `json:"regressed_at_version" maxLength:"255" doc:"The version in which it occurred again."`
	ResolvedAt         int64  `json:"resolved_at" doc:"When it had been resolved, Unix milliseconds."`
}

const issueColumns = `team_id, issue_id, application_id, application_name, service, status, error_count, session_count, is_crash, age,
	resolved_at, resolved_by, created_at, updated_at, first_seen_at, first_seen_version, last_seen_at, last_seen_version,
	error_message, error_type, cause_source, cause_value, cause_reason, cause_person_id, regression, versions, severity, no_alert`

func scanIssue(scan db.Scan) (i Issue, err error) {
	var regression *string
	var versions string
	if err := scan(&i.TeamID, &i.IssueID, &i.ApplicationID, &i.ApplicationName, &i.Service, &i.Status, &i.ErrorCount, &i.SessionCount,
		&i.IsCrash, &i.Age, &i.ResolvedAt, &i.ResolvedBy, &i.CreatedAt, &i.UpdatedAt, &i.FirstSeen.Timestamp, &i.FirstSeen.Version,
		&i.LastSeen.Timestamp, &i.LastSeen.Version, &i.Error.Message, &i.Error.Type, &i.SuspectedCause.Source, &i.SuspectedCause.Value,
		&i.SuspectedCause.Reason, &i.SuspectedCause.PersonID, &regression, &versions, &i.Severity, &i.NoAlert); err != nil {
		return i, err
	}
	if regression != nil {
		if err := json.Unmarshal([]byte(*regression), &i.Regression); err != nil {
			return i, fault.Wrap(err, "regression of issue %s", i.IssueID)
		}
	}
	return i, fault.Wrap(json.Unmarshal([]byte(versions), &i.Versions), "versions of issue %s", i.IssueID)
}
