package evaluate

// Answer is the whole result of one query, or a failure. A part of a result is a failure of the kind Partial.
type Answer struct {
	Query  string // the query's name in its rule, such as A
	Rows   []Row
	Failed *Failure // nil: Rows are complete; with Failure.Cut what is there is known, and what is missing is not
}

// Row is one row of an answer.
type Row struct {
	Labels map[string]string
	Values map[string]float64 // by field; a query of one value has it under the empty name. An absent or NaN value is no value
	Fields map[string]string  // columns that are neither labels nor values, for descriptions
}

// Failure is why a query has no complete answer.
type Failure struct {
	Kind    Kind
	Phase   string // resolve, dial, tls, sign_in, query or read; empty where there was no connection to make
	Message string // without secrets, at most 500 characters
	Cut     bool   // the rows prove what is there; a missing row is not known
}

// Error returns the kind with the message.
func (f *Failure) Error() string { return string(f.Kind) + ": " + f.Message }

// Kind is the kind of a failure, as it is stored and counted.
type Kind string

// The kinds of failures.
const (
	Unreachable Kind = "unreachable" // no connection, or it broke
	Denied      Kind = "denied"      // the datasource refused the credentials, or the role may not read
	Timeout     Kind = "timeout"
	BadQuery    Kind = "query"   // the datasource refused the query
	Partial     Kind = "partial" // a part of the data is missing
	TooMuch     Kind = "limit"   // more rows or bytes than a query may return
	Invalid     Kind = "invalid" // the rows cannot be judged: a label set twice, a text where a number is needed
	Missed      Kind = "missed"  // the evaluation was too late to begin
	Unsupported Kind = "unsupported"
)
