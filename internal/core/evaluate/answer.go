package evaluate

import "fmt"

// Answer is the whole result of one query, or a failure. A part of a result is a failure of the kind Partial.
type Answer struct {
	Query  string // the query's name in its rule, such as A
	Rows   []Row
	Failed *Failure // nil: Rows are complete; with Failure.Cut what is there is known, and what is missing is not
}

// Row is one row of an answer.
type Row struct {
	Labels map[string]string
	Values Values
	Fields map[string]string // columns that are neither labels nor values, for descriptions
}

// Values are the numbers of a row, each field once. A query of one value has it under the empty name. An absent or NaN value is
// no value. A row has few numbers, mostly a single one, for which a map would take ten times the memory.
type Values []Value

// Value is the number of a field.
type Value struct {
	Field  string
	Number float64
}

// Get returns the number of a field, and whether the row has one.
func (v Values) Get(field string) (number float64, ok bool) {
	for i := range v {
		if v[i].Field == field {
			return v[i].Number, true
		}
	}
	return 0, false
}

// Map returns the numbers by field.
func (v Values) Map() map[string]float64 {
	m := make(map[string]float64, len(v))
	for _, value := range v {
		m[value.Field] = value.Number
	}
	return m
}

// String returns the values as a map is printed, sorted by field.
func (v Values) String() string { return fmt.Sprint(v.Map()) }

// Set sets the number of a field.
func (v *Values) Set(field string, number float64) {
	for i := range *v {
		if (*v)[i].Field == field {
			(*v)[i].Number = number
			return
		}
	}
	*v = append(*v, Value{field, number})
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
