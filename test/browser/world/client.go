package world

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// Client is a browser without scripts or pictures: it keeps cookies and sends forms. It follows no redirect by itself.
type Client struct {
	Base string
	HTTP *http.Client
	t    Reporter
}

// Answer is what the server answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	HTML   *html.Node // nil: it is not HTML
}

// Client returns a client with no cookies.
func (w *World) Client(t Reporter) *Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &Client{w.URL, &http.Client{
		Transport:     w.server.Client().Transport,
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, t}
}

// SignIn signs in with an app key, by the form that takes one.
func (c *Client) SignIn(key string) {
	c.t.Helper()
	sent := false
	Each(c.Get("/sign-in").HTML, func(n *html.Node) {
		if n.Data != "form" || len(Find(n, "input", "name", "app_key")) == 0 || sent {
			return
		}
		sent = true
		values := Values(n)
		values.Set("app_key", key)
		if a := c.Post(Attribute(n, "action"), values); a.Status != http.StatusSeeOther {
			c.t.Fatalf("sign in: %d %s", a.Status, a.Body)
		}
	})
	if !sent {
		c.t.Fatalf("the page to sign in has no form with an app key")
	}
}

// Cookies returns the cookies that the server has set.
func (c *Client) Cookies() []*http.Cookie {
	c.t.Helper()
	u, err := url.Parse(c.Base)
	if err != nil {
		c.t.Fatalf("%v", err)
	}
	return c.HTTP.Jar.Cookies(u)
}

// Choose chooses a language or a theme, as the form of the console does.
func (c *Client) Choose(name, value string) {
	c.t.Helper()
	u, err := url.Parse(c.Base)
	if err != nil {
		c.t.Fatalf("%v", err)
	}
	c.HTTP.Jar.SetCookies(u, []*http.Cookie{{Name: name, Value: value}})
}

// Get reads an address.
func (c *Client) Get(path string) Answer {
	c.t.Helper()
	return c.do(http.MethodGet, path, nil, nil)
}

// Post sends a form.
func (c *Client) Post(path string, values url.Values) Answer {
	c.t.Helper()
	return c.do(http.MethodPost, path, strings.NewReader(values.Encode()), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
}

// PostFrom sends a form as a browser does from a page of another site.
func (c *Client) PostFrom(origin, site, path string, values url.Values) Answer {
	c.t.Helper()
	h := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	if origin != "" {
		h.Set("Origin", origin)
	}
	if site != "" {
		h.Set("Sec-Fetch-Site", site)
	}
	return c.do(http.MethodPost, path, strings.NewReader(values.Encode()), h)
}

func (c *Client) do(method, path string, body io.Reader, header http.Header) Answer {
	c.t.Helper()
	request, err := http.NewRequest(method, c.Base+path, body)
	if err != nil {
		c.t.Fatalf("%s: %v", path, err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	reply, err := c.HTTP.Do(request)
	if err != nil {
		c.t.Fatalf("%s: %v", path, err)
	}
	defer reply.Body.Close()
	a := Answer{Status: reply.StatusCode, Header: reply.Header}
	a.Body, err = io.ReadAll(reply.Body)
	if err != nil {
		c.t.Fatalf("%s: %v", path, err)
	}
	if strings.HasPrefix(reply.Header.Get("Content-Type"), "text/html") {
		a.HTML, err = html.Parse(bytes.NewReader(a.Body))
		if err != nil {
			c.t.Fatalf("%s: %v", path, err)
		}
	}
	return a
}

// Each calls fn for every element at and below a node, in the order of the document.
func Each(n *html.Node, fn func(*html.Node)) {
	if n == nil {
		return
	}
	for d := range n.Descendants() {
		if d.Type == html.ElementNode {
			fn(d)
		}
	}
}

// Find returns the elements below a node that have a name and an attribute with a value.
func Find(n *html.Node, element, attribute, value string) (found []*html.Node) {
	Each(n, func(e *html.Node) {
		if e.Data == element && Attribute(e, attribute) == value {
			found = append(found, e)
		}
	})
	return found
}

// Attribute returns an attribute of an element; empty: it has none.
func Attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// Has reports whether an element has an attribute.
func Has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// Values returns what a form holds when nothing is typed and the Enter key is pressed, which stands for its first button.
func Values(form *html.Node) url.Values {
	v, pressed := url.Values{}, false
	Each(form, func(n *html.Node) {
		name, kind := Attribute(n, "name"), Attribute(n, "type")
		switch {
		case n.Data == "button" && kind != "button" && !pressed && !Has(n, "disabled"):
			pressed = true
			if name != "" {
				v.Add(name, Attribute(n, "value"))
			}
		case name == "" || Has(n, "disabled"):
		case n.Data == "input" && (kind == "checkbox" || kind == "radio"):
			if Has(n, "checked") {
				v.Add(name, firstOf(Attribute(n, "value"), "on"))
			}
		case n.Data == "input" && kind != "submit":
			v.Add(name, Attribute(n, "value"))
		case n.Data == "textarea":
			v.Add(name, Text(n))
		case n.Data == "select":
			v.Add(name, chosen(n))
		}
	})
	return v
}

// chosen returns the value of a list: that of the option that is selected, else of the first.
func chosen(list *html.Node) (value string) {
	first := true
	Each(list, func(o *html.Node) {
		if o.Data == "option" && (first || Has(o, "selected")) {
			value, first = Attribute(o, "value"), false
			if !Has(o, "value") {
				value = strings.TrimSpace(Text(o))
			}
		}
	})
	return value
}

// Text returns the text below a node.
func Text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func (a Answer) String() string { return fmt.Sprintf("%d %.300s", a.Status, a.Body) }
