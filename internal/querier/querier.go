// Package querier asks datasources: one query returns a whole answer, or a failure with its kind and phase. The packages
// below it have one type of datasource each.
//
// It must never write to a datasource, return a part of an answer as the whole, repeat a secret, or dial but through
// platform/egress.
package querier

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
)

// Ask is one query.
type Ask struct {
	Expr        string            // in the language of the datasource
	Args        map[string]string // settings of the type
	LabelFields []string          // columns that identify a row; empty: all that are not values
	ValueFields []string          // columns that are values
	AsOf        time.Time         // the moment it asks about; zero: now, by the datasource's clock
	Limit       int               // rows at most; 0: MaxRows
	Timeout     time.Duration     // of the whole query at most; 0: as the datasource has it
}

// Bounds of a query. A timeout beyond them is raised or cut to them.
const (
	MaxRows        = 100_000
	MaxBytes       = 16 << 20 // of an answer
	MinTimeout     = 100 * time.Millisecond
	MaxTimeout     = time.Minute
	DefaultTimeout = 10 * time.Second
)

// Rows returns how many rows the answer may have.
func (a Ask) Rows() int { return min(cmp.Or(a.Limit, MaxRows), MaxRows) }

// Wait returns how long the query may take.
func (a Ask) Wait() time.Duration { return a.WaitOf(0) }

// WaitOf returns how long the query may take of a datasource with a timeout of its own, in milliseconds; 0: the default.
func (a Ask) WaitOf(own int64) time.Duration {
	wait := DefaultTimeout
	if own > 0 {
		wait = time.Duration(min(own, MaxTimeout.Milliseconds())) * time.Millisecond
	}
	return max(min(wait, cmp.Or(a.Timeout, MaxTimeout)), MinTimeout)
}

// Querier asks one datasource. It is safe for concurrent use.
type Querier interface {
	// Query returns all rows of the answer, or a failure. A failure whose Cut is set comes with rows.
	Query(ctx context.Context, a Ask) ([]evaluate.Row, *evaluate.Failure)
	// Test returns the phases of a connection and a small query, up to the first that failed.
	Test(ctx context.Context) []Phase
	Close() error
}

// MaxPoints is how many points a series may have.
const MaxPoints = 11_000

// Ranger is a querier that can ask about many moments with one request.
type Ranger interface {
	// Range returns the values of the moments from, from + step and so on until to, or a failure. A moment at which a series has
	// no point is one at which the answer of Query would not have it.
	Range(ctx context.Context, a Ask, from, to time.Time, step time.Duration) ([]Series, *evaluate.Failure)
}

// Series has the values of one label set over time, in the order of their moments.
type Series struct {
	Labels map[string]string
	Name   string // of the value, where a datasource names it
	Points []Point
}

// Point is a value at a moment.
type Point struct {
	At    time.Time
	Value float64
}

// CheckRange refuses moments that are more than MaxPoints.
func CheckRange(from, to time.Time, step time.Duration) *evaluate.Failure {
	if step < time.Second || to.Before(from) || to.Sub(from)/step >= MaxPoints {
		return &evaluate.Failure{Kind: evaluate.TooMuch, Phase: PhaseQuery, Message: fmt.Sprintf(
			"a series has at most %d points, and %v in steps of %v has %d", MaxPoints, to.Sub(from), step, to.Sub(from)/max(step, 1)+1)}
	}
	return nil
}

// The phases of a test.
const (
	PhaseResolve = egress.StepResolve
	PhaseDial    = egress.StepDial
	PhaseTLS     = egress.StepTLS
	PhaseSignIn  = "sign_in"
	PhaseQuery   = "query"
	PhaseRights  = "rights"
	PhaseRead    = "read" // of a failure: the answer began, but did not end well
)

// Phase is one phase of a test.
type Phase struct {
	Name    string `json:"name" enum:"resolve,dial,tls,sign_in,query,rights" doc:"What was tested."`
	OK      bool   `json:"ok" doc:"Whether it succeeded; nothing is tested after a failure."`
	TookMS  int64  `json:"took_ms" doc:"How long it took, in milliseconds."`
	Message string `json:"message" doc:"What was found, or why it failed; without secrets."`
}

// Failed returns the phase of a failure.
func Failed(f *evaluate.Failure, took time.Duration) Phase {
	name := f.Phase
	switch name {
	case PhaseResolve, PhaseDial, PhaseTLS, PhaseSignIn:
	default:
		name = PhaseQuery
	}
	return Phase{Name: name, TookMS: took.Milliseconds(), Message: f.Message}
}

// Connect returns the phases of connecting to an address, host:port, and whether all succeeded.
func Connect(ctx context.Context, out *egress.Client, address string, config *tls.Config) (phases []Phase, ok bool) {
	for _, step := range out.Probe(ctx, address, config) {
		p := Phase{Name: step.Name, OK: step.Err == nil, TookMS: step.Took.Milliseconds()}
		if step.Err != nil {
			p.Message = cut(step.Err.Error())
			return append(phases, p), false
		}
		phases = append(phases, p)
	}
	return phases, true
}

// Datasource is what a querier is opened with.
type Datasource struct {
	Type    string // such as prometheus
	Name    string
	Address string
	Payload []byte // the block of the type, JSON, with its secrets in clear
}

// Lister lists what a datasource consists of: its projects, or the stores of one.
type Lister interface {
	// List returns the names of a page: of the stores of a project, or without one of the projects whose names hold a text.
	List(ctx context.Context, project, text string, offset, size int64) ([]string, *evaluate.Failure)
}

// Opener returns the querier of a datasource of one type. It makes no connection.
type Opener func(d Datasource, out *egress.Client) (Querier, *evaluate.Failure)

// Types maps the types of datasources that can be asked to their openers.
type Types map[string]Opener

// Registry opens queriers.
type Registry struct {
	Types     Types
	Out       *egress.Client
	SecretEnv SecretEnv // which variables of the environment a datasource may refer to
}

// Open returns the querier of a datasource, with the references in its secrets resolved. It makes no connection.
func (r Registry) Open(d Datasource) (Querier, *evaluate.Failure) {
	open := r.Types[d.Type]
	if open == nil {
		return nil, Unsupported("this program was built without datasources of type %s", d.Type)
	}
	d.Address = cloudAddress(d) // the host that receives the secrets
	d, failed := r.SecretEnv.resolve(d, os.LookupEnv)
	if failed != nil {
		return nil, failed
	}
	return open(d, r.Out)
}
