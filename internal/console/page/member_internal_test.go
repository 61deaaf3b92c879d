package page

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"tocsin/internal/console/locale"
)

type toyPart struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Works bool   `json:"works"`
}

type toyCare struct {
	Days int64 `json:"days"`
	Wet  *bool `json:"wet,omitzero"`
}

type toyBody struct {
	Note  *string           `json:"note,omitzero"`
	Price float64           `json:"price"`
	Tags  []string          `json:"tags"`
	Pairs map[string]string `json:"pairs"`
	Keys  [][]string        `json:"keys"`
	At    int64             `json:"at_seconds"`
	Care  *toyCare          `json:"care,omitzero"`
	Parts []toyPart         `json:"parts"`
	Most  *uint64           `json:"most,omitzero"`
}

type toy struct {
	ID int64 `json:"id"`
	toyBody
}

var toyForm = Form{Members: []Member{
	{Path: "note", Label: "Note"}, {Path: "price", Label: "Price"}, {Path: "tags", Label: "Tags"}, {Path: "pairs", Label: "Pairs"},
	{Path: "keys", Label: "Keys"}, {Path: "at_seconds", Label: "At", Kind: Moment}, {Path: "care.days", Label: "Days"},
	{Path: "care.wet", Label: "Wet"}, {Path: "most", Label: "Most"}, {Path: "absent", Label: "Absent"},
	{Path: "parts", Label: "Parts", Rows: []Member{{Path: "name", Label: "Name"}, {Path: "count", Label: "Count"}, {Path: "works", Label: "Works"}}},
}}

func visitOf(form url.Values) *Visit {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if form != nil {
		r = httptest.NewRequest(http.MethodPost, "/", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		_ = r.ParseForm()
	}
	return &Visit{Request: r, Setting: locale.Setting{Lang: "en", Zone: time.FixedZone("", 3600)}}
}

// filled is what a browser sends of inputs.
func filled(inputs []FormField, form url.Values) url.Values {
	for _, f := range inputs {
		if f.Kind == "rows" {
			form.Set(rowsOf(f.Name), strconv.Itoa(len(f.Rows)))
			for _, row := range f.Rows {
				filled(row, form)
			}
			continue
		}
		if f.Kind != "check" || f.Value != "" {
			form.Set(f.Name, f.Value)
		}
	}
	return form
}

func TestFormSendsWhatItShows(t *testing.T) {
	wet := false
	for name, stored := range map[string]toy{
		"full": {toyBody: toyBody{
			Note: new("a\nb"), Price: 2.5, Tags: []string{"x", "y z"}, Pairs: map[string]string{"a": "1", "b": "x: y"},
			Keys: [][]string{{"a", "b"}, {"c"}}, At: 1_764_200_040, Care: &toyCare{Days: 3, Wet: &wet},
			Parts: []toyPart{{"arm", 2, true}, {"leg", 0, false}}, Most: new(uint64(7)),
		}},
		"object without values": {toyBody: toyBody{
			Note: new(""), Tags: []string{}, Pairs: map[string]string{}, Keys: [][]string{}, Care: &toyCare{Wet: &wet}, Parts: []toyPart{},
		}},
		"no object": {toyBody: toyBody{Note: new(""), Tags: []string{}, Pairs: map[string]string{}, Keys: [][]string{}, Parts: []toyPart{}}},
	} {
		var d RecordForm
		if err := toyForm.Draw(visitOf(nil), &d, stored); err != nil {
			t.Fatal(err)
		}
		var got toy
		if err := toyForm.Read(visitOf(filled(d.Fields, url.Values{})), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got, stored) {
			t.Errorf("%s: sent %+v, shown %+v", name, got, stored)
		}
	}
}

func TestFormRefusesWhatIsNoValue(t *testing.T) {
	for input, says := range map[string]string{"price": "Price: “x” is no number", "care.days": "Days: “x” is no whole number",
		"at_seconds": "At: “x” is no time", "pairs": "has no colon", "most": "no whole number"} {
		var got toy
		err := toyForm.Read(visitOf(url.Values{input: {"x"}}), &got)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", input, err, says)
		}
	}
	if err := toyForm.Read(visitOf(url.Values{"most": {"-1"}}), new(toy)); err == nil {
		t.Error("a negative number is taken where there are none")
	}
}

func TestFormKeepsWhatWasEntered(t *testing.T) {
	var d RecordForm
	v := visitOf(url.Values{"price": {"x"}, "parts.rows": {"1"}, "parts.0.name": {"arm"}, "parts.0.count": {"y"}})
	if err := toyForm.Draw(v, &d, toy{}); err != nil {
		t.Fatal(err)
	}
	sent := filled(d.Fields, url.Values{})
	if sent.Get("price") != "x" || sent.Get("parts.0.name") != "arm" || sent.Get("parts.0.count") != "y" || sent.Get("parts.rows") != "2" {
		t.Errorf("the form is shown again with %v", sent)
	}
}

func TestPickerKeepsOrderOfChoices(t *testing.T) {
	o := NewOffer("people", []Choice{{1, "Ann", ""}, {2, "Bob", ""}, {3, "Cem", ""}})
	got, err := o.Read(visitOf(url.Values{"who": {"3", "1", "3"}, "who.add": {"bob"}}), "who")
	if err != nil || !reflect.DeepEqual(got, []int64{3, 1, 2}) {
		t.Errorf("%v, %v", got, err)
	}
}
