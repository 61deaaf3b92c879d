package rumintake

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"io"
	"net/http"
	"net/url"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
	"tocsin/internal/source/browser"
)

// datadogPath is the path of the events of Datadog's SDK.
const datadogPath = "/api/v2/rum"

// discarded are the paths of what the SDK sends besides events. It is accepted and discarded.
var discarded = map[string]bool{"/api/v2/replay": true, "/api/v2/logs": true, "/api/v2/profile": true}

// Datadog accepts the events of Datadog's browser SDK: POST /api/v2/rum?dd-api-key=TOKEN, or the same as the value of
// ddforward, as the SDK sends it through a proxy. Nothing is forwarded.
func (r *Service) Datadog() api.Endpoint {
	return api.Endpoint{Path: datadogPath, Methods: []string{http.MethodPost, http.MethodOptions}, MaxBody: MaxBytes, Do: r.datadog}
}

func (r *Service) datadog(c *api.Call, req *http.Request, header http.Header, body *api.Body) (any, error) {
	share(header)
	if req.Method == http.MethodOptions {
		return preflight(header), nil
	}
	path, query := req.URL.Path, req.URL.Query()
	if inner := query.Get("ddforward"); inner != "" {
		u, err := url.Parse(inner)
		if err != nil {
			return nil, fault.Invalid("ddforward", "must be a path with a query, got %.60q", inner)
		}
		path, query = u.Path, u.Query()
	}
	a, err := r.application(c, req, cmp.Or(query.Get("dd-api-key"), req.Header.Get("DD-API-KEY")), header)
	switch {
	case err != nil:
		return nil, err
	case discarded[path]:
		return &api.Answer{Status: http.StatusAccepted, Body: struct{}{}}, nil
	case path != datadogPath:
		return nil, fault.New(fault.RouteNotFound, "ddforward must begin with %s, got %.60q", datadogPath, path)
	}
	text, err := body.Read(a.AccountID, keyOf(a.ApplicationID))
	if err != nil {
		return nil, err
	}
	deflated, tags := query.Get("dd-evp-encoding") == "deflate", query.Get("ddtags")
	agent := req.UserAgent()
	ip := c.IP
	now := c.Now
	err = r.put(c, a, func() (browser.Batch, error) {
		plain, err := inflated(text, deflated)
		if err != nil {
			return browser.Batch{}, err
		}
		b := browser.Datadog(plain, tags, now.UnixMilli())
		completed(b.Errors, &a, agent, ip)
		return b, nil
	})
	return &api.Answer{Status: http.StatusAccepted, Body: struct{}{}}, err
}

// inflated returns a body that may be a zlib stream: the SDK declares it in the query alone, and not always.
func inflated(body []byte, declared bool) ([]byte, error) {
	if !declared && !bytes.HasPrefix(body, []byte{0x78}) {
		return body, nil
	}
	stream, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil && declared && bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) { // it was declared by mistake
		return body, nil
	}
	if err != nil {
		return nil, fault.New(fault.BadRequest, "the body is not a zlib stream, which dd-evp-encoding declares")
	}
	plain, err := io.ReadAll(io.LimitReader(stream, MaxInflated+1))
	switch {
	case len(plain) > MaxInflated:
		return nil, fault.New(fault.TooLarge, "must be at most %d bytes when it is inflated", MaxInflated)
	case err != nil && len(plain) == 0:
		return nil, fault.New(fault.BadRequest, "the body is a broken zlib stream")
	}
	return plain, nil // of a stream that was cut off, the lines that arrived
}
