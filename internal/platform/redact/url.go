package redact

import (
	"net/url"
	"strings"
)

// space ends a URL in running text.
const space = " \t\r\n"

// URL returns s, a URL or a text with URLs in it, with "***" in place of the
// user info before a host and of the values of credential-like query
// parameters such as app_key, integration_key and token. It needs neither a
// complete nor a valid URL: a path with a query will do, or the query alone.
func URL(s string) string {
	return hideQuery(hideUserInfo(s))
}

// Origin returns a URL with its scheme and host alone, and "***" for the rest, because the path to a chat's
// webhook is its credential. A text that is no URL is hidden entirely.
func Origin(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return hidden
	}
	if u.Path == "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil {
		return s
	}
	return u.Scheme + "://" + u.Host + "/" + hidden
}

// hideUserInfo blanks everything between "//" and the "@" before a host.
func hideUserInfo(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	var out strings.Builder
	for s != "" {
		run := until(s, space)
		hideInRun(&out, run)
		s = s[len(run):]
		gap := len(s) - len(strings.TrimLeft(s, space))
		out.WriteString(s[:gap])
		s = s[gap:]
	}
	return out.String()
}

// hideInRun writes one run of text without spaces. It examines each part a few
// times at most, however many slashes the run has.
func hideInRun(out *strings.Builder, run string) {
	const slashes = "//"
	last := strings.LastIndexByte(run, '@')
	for {
		start := strings.Index(run, slashes) + len(slashes)
		if start < len(slashes) || start > last {
			out.WriteString(run)
			return
		}
		out.WriteString(run[:start])
		end := start + userInfo(run[start:], last-start)
		if end > start {
			out.WriteString(hidden)
		}
		run, last = run[end:], last-end
	}
}

// userInfo returns the length of the user info at the start of rest, in which
// the last "@" is at last. A password with a "/", "?" or "#" that should have
// been escaped ends the authority early and makes the part after its colon no
// port; then everything up to the last "@" is taken for user info.
func userInfo(rest string, last int) int {
	authority := until(rest, "/?#")
	if end := strings.LastIndexByte(authority, '@'); end >= 0 {
		return end
	}
	_, port, _ := strings.Cut(authority, ":")
	if strings.Trim(port, "0123456789") != "" {
		return last
	}
	return 0
}

// hideQuery blanks the values of credential-like parameters. A parameter
// begins at the start of the text, after a space, which also finds those of
// database connection strings, or after "?", "&", ";" or "#", where some
// services put an access token.
func hideQuery(s string) string {
	if !strings.Contains(s, "=") {
		return s
	}
	const separators = "?&;#" + space
	var out strings.Builder
	for {
		name := until(s, "="+separators)
		out.WriteString(name)
		s = s[len(name):]
		if strings.HasPrefix(s, "=") && Hides(unescape(name)) {
			out.WriteString("=" + hidden)
			s = s[len(until(s, "&#"+space)):]
		}
		rest := until(s, separators)
		if rest == s {
			return out.String() + rest
		}
		out.WriteString(s[:len(rest)+1])
		s = s[len(rest)+1:]
	}
}

func unescape(name string) string {
	if plain, err := url.QueryUnescape(name); err == nil {
		return plain
	}
	return name
}

// until returns s up to the first of the given characters, or all of it.
func until(s, chars string) string {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i]
	}
	return s
}
