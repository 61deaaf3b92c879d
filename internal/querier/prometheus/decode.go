package prometheus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
)

// Decoder reads the answer of a query as it arrives: the rows of an instant query, the series of a range query.
type Decoder struct {
	Limit  int  // rows or series at most
	Named  bool // the name of the metric is that of the value, as in VictoriaLogs; else it is left out
	Ranged bool // the answer is of a range query
	Rows   []evaluate.Row
	Series []querier.Series

	json    *jsontext.Decoder
	status  string
	kind    string         // resultType
	result  jsontext.Value // when it came before its type
	read    bool           // the result was
	partial string         // why the answer is not whole
	seen    []label        // of the series before, by position
}

// label is a label of the series before. Most series have the same names in the same order, and many the same values: their
// texts are used again.
type label struct{ name, value string }

var errMalformed = querier.ErrMalformed

func failure(kind evaluate.Kind, message string) error {
	return &evaluate.Failure{Kind: kind, Phase: querier.PhaseQuery, Message: message}
}

// Decode reads an answer to its end. An error is a *evaluate.Failure, of the reader, or of a text that is no answer.
func (d *Decoder) Decode(r io.Reader) error {
	d.json = newDecoder(r)
	if err := d.object(d.member); err != nil {
		return err
	}
	if _, err := d.json.ReadToken(); !errors.Is(err, io.EOF) { // reading on to the end keeps the connection
		return errors.Join(errMalformed, err)
	}
	switch {
	case d.status != "success":
		return errMalformed
	case d.partial != "":
		return failure(evaluate.Partial, d.partial)
	case d.result != nil:
		d.json = newDecoder(bytes.NewReader(d.result))
		return d.rows()
	case !d.read:
		return errMalformed
	}
	return nil
}

func (d *Decoder) member(name []byte) error {
	switch string(name) {
	case "status":
		text, err := d.text()
		d.status = string(text)
		return err
	case "data":
		if d.read || d.result != nil {
			return errMalformed
		}
		if d.json.PeekKind() != '{' { // null, with an error
			return d.json.SkipValue()
		}
		return d.object(d.data)
	case "warnings":
		if d.json.PeekKind() == 'n' {
			return d.json.SkipValue()
		}
		return d.array(d.warning)
	case "isPartial":
		t, err := d.json.ReadToken()
		if err == nil && t.Kind() == 't' {
			d.partial = "the datasource marked its answer as partial"
		}
		return err
	}
	return d.json.SkipValue()
}

// warning reads a warning. Those about the query itself leave the answer whole.
func (d *Decoder) warning() error {
	text, err := d.text()
	if err == nil && !bytes.HasPrefix(text, []byte("PromQL warning:")) && !bytes.HasPrefix(text, []byte("PromQL info:")) {
		d.partial = "the datasource warned that its answer may lack data"
	}
	return err
}

func (d *Decoder) data(name []byte) error {
	switch string(name) {
	case "resultType":
		text, err := d.text()
		d.kind = string(text)
		return err
	case "result":
		if d.read || d.result != nil {
			return errMalformed
		}
		if d.kind == "" {
			v, err := d.json.ReadValue()
			d.result = v.Clone()
			return err
		}
		return d.rows()
	}
	return d.json.SkipValue()
}

func (d *Decoder) rows() error {
	d.read = true
	if d.Ranged {
		if d.kind != "matrix" {
			return errMalformed
		}
		return d.array(d.series)
	}
	switch d.kind {
	case "vector":
		if d.json.PeekKind() == 'n' { // of an empty one
			return d.json.SkipValue()
		}
		return d.array(d.series)
	case "scalar":
		p, err := d.sample()
		if err == nil {
			d.Rows = append(d.Rows, evaluate.Row{Labels: map[string]string{}, Values: evaluate.Values{{Number: p.Value}}})
		}
		return err
	case "string":
		return failure(evaluate.Invalid, "the query returns a text, where a number is needed")
	case "matrix":
		return failure(evaluate.BadQuery, "the query returns ranges of values, where one value of each series is needed")
	case "streams":
		return failure(evaluate.BadQuery, "the query returns lines, where one value of each series is needed")
	}
	return errMalformed
}

// series reads a series of a vector or of a matrix.
func (d *Decoder) series() error {
	if len(d.Rows)+len(d.Series) >= d.Limit {
		return failure(evaluate.TooMuch, fmt.Sprintf("the query returns more than %d rows", d.Limit))
	}
	var row evaluate.Row
	name, valued := "", false
	var value querier.Point
	var points []querier.Point
	err := d.object(func(member []byte) (err error) {
		switch string(member) {
		case "metric":
			if row.Labels != nil {
				return errMalformed
			}
			row.Labels, name, err = d.labels()
		case "value":
			value, err = d.sample()
			valued = !d.Ranged
		case "values":
			points, err = d.points()
			valued = d.Ranged
		case "histogram", "histograms":
			return failure(evaluate.Unsupported, "the query returns a native histogram, which cannot be compared with a number")
		default:
			err = d.json.SkipValue()
		}
		return err
	})
	if err != nil {
		return err
	}
	if !valued || row.Labels == nil {
		return errMalformed
	}
	if !d.Named {
		name = ""
	}
	if d.Ranged {
		d.Series = append(d.Series, querier.Series{Labels: row.Labels, Name: name, Points: points})
		return nil
	}
	row.Values = evaluate.Values{{Field: name, Number: value.Value}}
	d.Rows = append(d.Rows, row)
	return nil
}

// labels reads the labels of a series. Its metric's name is returned apart.
func (d *Decoder) labels() (labels map[string]string, metric string, err error) {
	like := 0 // as many as the series before: a first series of many must not make all maps large
	if n := len(d.Rows); n > 0 {
		like = len(d.Rows[n-1].Labels)
	}
	labels = make(map[string]string, like)
	at := 0
	err = d.object(func(name []byte) error {
		if at == len(d.seen) {
			d.seen = append(d.seen, label{})
		}
		l := &d.seen[at]
		at++
		if l.name != string(name) {
			l.name = string(name)
		}
		value, err := d.text()
		if err != nil {
			return err
		}
		if l.value != string(value) {
			l.value = string(value)
		}
		if l.name == "__name__" {
			metric = l.value
			return nil
		}
		if _, twice := labels[l.name]; twice {
			return errMalformed
		}
		labels[l.name] = l.value
		return nil
	})
	return labels, metric, err
}

// points reads the samples of a series.
func (d *Decoder) points() (points []querier.Point, err error) {
	err = d.array(func() error {
		if len(points) >= querier.MaxPoints {
			return failure(evaluate.TooMuch, fmt.Sprintf("a series has more than %d points", querier.MaxPoints))
		}
		p, err := d.sample()
		points = append(points, p)
		return err
	})
	return points, err
}

// sample reads a value with its moment. That of an instant query is known, and left out.
func (d *Decoder) sample() (p querier.Point, err error) {
	at := 0
	err = d.array(func() (err error) {
		at++
		var text []byte
		if at == 1 && d.Ranged {
			text, err = d.json.ReadValue()
			if err != nil {
				return err
			}
			seconds, err := strconv.ParseFloat(string(text), 64)
			if err != nil || math.Abs(seconds) > 1e11 {
				return errMalformed
			}
			p.At = time.UnixMilli(int64(math.Round(seconds * 1000))).UTC()
			return nil
		}
		if at != 2 {
			return d.json.SkipValue()
		}
		if d.json.PeekKind() == '0' {
			text, err = d.json.ReadValue()
		} else {
			text, err = d.text()
		}
		if err != nil {
			return err
		}
		p.Value, err = strconv.ParseFloat(string(text), 64)
		if err != nil {
			return failure(evaluate.Invalid, "the value of a series is no number")
		}
		return nil
	})
	if err == nil && at != 2 {
		err = errMalformed
	}
	return p, err
}
