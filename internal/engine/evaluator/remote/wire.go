// Package remote is the center of an evaluator that runs apart from its server: it asks the server over HTTPS, and keeps in a
// directory what it needs while the server cannot be reached.
//
// It must never write a secret of a datasource to the disk in clear, or speak http to another machine.
package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/querier"
)

// The calls of a member, with POST, the key as bearer, and the replies in the envelope of the public API.
const (
	PathJoin     = "/edge/v1/join"
	PathSync     = "/edge/v1/sync"
	PathWatches  = "/edge/v1/watches"
	PathState    = "/edge/v1/state"
	PathSave     = "/edge/v1/save"
	PathSend     = "/edge/v1/send"
	PathRequests = "/edge/v1/requests" // held until there is a request, HoldRequests at most
	PathAnswer   = "/edge/v1/answer"
)

// HoldRequests bounds how long the server holds a call that waits for requests.
const HoldRequests = 20 * time.Second

// CodeReplaced is the code of the error when another process has joined as the same member.
const CodeReplaced = "EdgeReplaced"

// HeaderMoved is the header of a reply with the address of the server to which the account of the key was moved; empty: it is not
// known. The reply is an error.
const HeaderMoved = "Tocsin-Moved-To"

// Bounds of a call with transitions. What is beyond them goes into further calls.
const (
	MaxSend  = 1000
	MaxBytes = 8 << 20
)

// Member identifies a process of a member.
type Member struct {
	EdgeID string `json:"edge_id"`
	Run    string `json:"run"` // random, of each start of the process
}

// Self returns the process that sends a call, whose body begins with it.
func (m *Member) Self() Member { return *m }

// EdgeID returns the id of the member with a public key.
func EdgeID(publicKey []byte) string {
	sum := sha256.Sum256(publicKey)
	return hex.EncodeToString(sum[:8])
}

// JoinRequest is the first call of a process.
type JoinRequest struct {
	Name      string            `json:"name"`
	Version   string            `json:"version"`
	Types     []string          `json:"types"`               // of datasources that it can ask
	SecretEnv querier.SecretEnv `json:"secret_env,omitzero"` // nil: of an older version
	PublicKey []byte            `json:"public_key"`
	Run       string            `json:"run"`
	At        int64             `json:"at"` // of its clock, Unix milliseconds
}

// JoinReply is whose member it is.
type JoinReply struct {
	EdgeID  string `json:"edge_id"`
	Account int64  `json:"account_id"`
	Cluster string `json:"cluster"`
	Now     int64  `json:"now"`
}

// SyncRequest is the report of a member. Times in it are those of the server's clock, but At.
type SyncRequest struct {
	Member
	evaluator.Report
	Revision   int64 `json:"revision"` // of the configuration that it has
	ConfigAge  int64 `json:"config_age_s"`
	SpoolBytes int64 `json:"spool_bytes"`
}

// SyncReply is what a member evaluates.
type SyncReply struct {
	Now      int64           `json:"now"`
	Slots    map[int64]int64 `json:"slots"`         // with their epochs
	More     bool            `json:"more,omitzero"` // others hand slots over to this member
	Revision int64           `json:"revision"`      // of the account's configuration
	Differ   []int64         `json:"differ"`        // slots of which the server has other open instances
}

// WatchesRequest asks for the watches of a member.
type WatchesRequest struct {
	Member
	Have string `json:"have"` // the last reply's
}

// WatchesReply is the watches of a member. What is of a rule or a datasource stands in it once.
type WatchesReply struct {
	Have      string           `json:"have"`               // a digest of the rest, without what is sealed
	Unchanged bool             `json:"unchanged,omitzero"` // the member has it: there is no rest
	Rules     []jsontext.Value `json:"rules"`              // evaluate.Rule; a member that does not know all members of one does not evaluate it
	Sources   []Source         `json:"sources"`
	Watches   []Assigned       `json:"watches"`
}

// Source is a datasource.
type Source struct {
	ID      uint64            `json:"id"`
	Version int64             `json:"version"`
	Failed  *evaluate.Failure `json:"failed,omitzero"`
	Sealed  []byte            `json:"sealed,omitempty"` // querier.Datasource as JSON, which only the member may read
}

// Assigned is a watch of a member.
type Assigned struct {
	Rule     uint64        `json:"rule"`
	Source   uint64        `json:"ds"`
	Slot     int64         `json:"slot"`
	Cron     string        `json:"cron"`
	Delay    time.Duration `json:"delay"`
	Severity string        `json:"severity"`
}

// StateRequest asks what is stored of watches.
type StateRequest struct {
	Member
	Keys []evaluator.Key `json:"keys"`
}

// StateReply has the watches of which something is stored.
type StateReply struct {
	Saved []evaluator.Saved `json:"saved"`
}

// SaveRequest has states of watches.
type SaveRequest struct {
	Member
	States []evaluator.Saved `json:"states"`
}

// SendRequest has what an evaluation has found. The reply is an evaluator.Taken.
type SendRequest struct {
	Member
	evaluator.Batch
	Seq    int64  `json:"seq"` // grows with every call of a run, so that a late duplicate is known
	Rule   uint64 `json:"rule"`
	Source uint64 `json:"ds"`
}

// The kinds of requests to a member.
const (
	KindQuery = "query"
	KindTest  = "test"
	KindRange = "range"
)

// Request is a question of a person, which the member asks of a datasource.
type Request struct {
	ID     string      `json:"id"`
	Kind   string      `json:"kind"`
	Source Source      `json:"source"`
	Ask    querier.Ask `json:"ask"`
	From   time.Time   `json:"from,omitzero"`
	To     time.Time   `json:"to,omitzero"`
	Step   int64       `json:"step,omitzero"` // seconds
}

// RequestsReply has the requests that no member has taken yet.
type RequestsReply struct {
	Requests []jsontext.Value `json:"requests"` // Request
}

// AnswerRequest is the answer to a request.
type AnswerRequest struct {
	Member
	ID     string            `json:"id"`
	Rows   []evaluate.Row    `json:"rows,omitempty"`
	Series []querier.Series  `json:"series,omitempty"`
	Phases []querier.Phase   `json:"phases,omitempty"`
	Failed *evaluate.Failure `json:"failed,omitzero"`
}

// SourceInfo returns what a datasource is sealed with, so that no one can hand one over as another.
func SourceInfo(account int64, cluster string, datasource uint64, edge string) []byte {
	return fmt.Appendf(nil, "tocsin/edge/%d/%s/%d/%s", account, cluster, datasource, edge)
}
