package page_test

import (
	"testing"

	"tocsin/internal/console/page"
)

func TestOfferNamesChoicesApart(t *testing.T) {
	t.Parallel()
	o := page.NewOffer("people", []page.Choice{{1, "Zoë", ""}, {2, "Ann", "ann@a.example"}, {3, "ann", "ann@b.example"}, {4, "Ann-Marie", "am@a.example"}})
	var names []string
	for _, c := range o.Choices {
		names = append(names, c.Name)
	}
	for i, want := range []string{"Ann (ann@a.example)", "ann (ann@b.example)", "Ann-Marie", "Zoë"} {
		if names[i] != want {
			t.Errorf("choice %d is %q, wanted %q", i, names[i], want)
		}
	}
	for text, want := range map[string]int64{
		"zoë": 1, " ZOË ": 1, "marie": 4, "ann-marie": 4, "ann@b.example": 3, "ann": 0, "": 0, "Bob": 0, "Ann (ann@a.example)": 2,
	} {
		if found, ok := o.Named(text); ok != (want != 0) || ok && found.ID != want {
			t.Errorf("%q names %v %v, wanted %d", text, found, ok, want)
		}
	}
}
