package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// pageError is an error that a page of the shop reports, to an issue that the account has already.
type pageError struct {
	service, kind, message, stack, url, user string
	ago                                      time.Duration
}

// pageErrors are a few errors of users of the shop, so that their issues have samples.
func pageErrors() []pageError {
	assets := "https://shop." + domain + "/assets/"
	bundle := "TypeError: Cannot read properties of undefined (reading 'price')\n" +
		"  at bundlePrice @ " + assets + "basket-4f9a2b1c.js:1:18230\n  at renderLine @ " + assets + "basket-4f9a2b1c.js:1:20944\n" +
		"  at Object.useMemo @ " + assets + "react-dom-8d1e77a0.js:1:90411\n  at BasketPage @ " + assets + "basket-4f9a2b1c.js:1:22518"
	const missing = "Cannot read properties of undefined (reading 'price')"
	return []pageError{
		{"shop-web", "TypeError", missing, bundle, "/basket", "c-48213", 9 * time.Minute},
		{"shop-web", "TypeError", missing, bundle, "/basket?coupon=SPRING", "c-51170", 6 * time.Minute},
		{"shop-web", "TypeError", missing, bundle, "/checkout", "c-47902", 4 * time.Minute},
		{
			"shop-web", "Error", "ResizeObserver loop completed with undelivered notifications", "", "/", "c-50031", 2 * time.Minute,
		},
	}
}

// reportErrors sends errors as the browser SDK of Datadog does, with the client token of the shop.
func reportErrors(ctx context.Context, base string, m moments) error {
	var lines []string
	for i, e := range pageErrors() {
		line, err := json.Marshal(map[string]any{
			"type": "error", "date": m.ago(e.ago).UnixMilli(), "service": e.service, "version": "2026.4.2", "ddtags": "env:production",
			"session": map[string]string{"id": fmt.Sprintf("7c1d5a9e-0000-4000-8000-%012d", i+1)}, "usr": map[string]string{"id": e.user},
			"view": map[string]string{"url": "https://shop." + domain + e.url},
			"error": map[string]string{
				"id": fmt.Sprintf("2b6f4c1a-0000-4000-8000-%012d", i+1), "type": e.kind, "message": e.message, "stack": e.stack,
				"source": "source", "handling": "unhandled",
			},
		})
		if err != nil {
			return err
		}
		lines = append(lines, string(line))
	}
	address := base + "/api/v2/rum?dd-api-key=" + url.QueryEscape(configured(m).Applications[0].ClientToken)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "text/plain;charset=UTF-8")
	request.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusAccepted {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
		return fmt.Errorf("status %d: %s", answer.StatusCode, text)
	}
	return nil
}
