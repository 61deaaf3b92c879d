package page

import (
	"strconv"

	"tocsin/internal/api"
)

// Pager is where a list is.
type Pager struct {
	Page, Total int64
	More        bool
	Base        string // the address of a page, but for its number
}

// Prev returns the number of the page before this one.
func (p Pager) Prev() int64 { return p.Page - 1 }

// Following returns the number of the page after this one.
func (p Pager) Following() int64 { return p.Page + 1 }

// Pager returns the page of a list that the address asks for.
func (v *Visit) Pager() Pager {
	p := Pager{Page: 1}
	if n, err := strconv.ParseInt(v.Query("p"), 10, 32); err == nil && n > 0 {
		p.Page = n
	}
	query := v.Request.URL.Query()
	query.Del("p")
	p.Base = v.Request.URL.Path + "?" + query.Encode() + "&p="
	return p
}

// Listed is a page of a list.
type Listed[T any] struct {
	Items []T
	Total int64
}

// Ten is the first ten of a list.
var Ten = api.Page{Limit: 10}

// PageSize is how many rows a list shows.
const PageSize = 50

// CountedLink leads to a part of a list.
type CountedLink struct {
	ID         int64
	Text, Path string
	Count      int
	Depth      int
	Here       bool
}

// With returns the address of the page with another value of a parameter.
func (v *Visit) With(name, value string) string {
	parameters := v.Request.URL.Query()
	parameters.Del("p")
	parameters.Set(name, value)
	if value == "" {
		parameters.Del(name)
	}
	return v.Request.URL.Path + "?" + parameters.Encode()
}
