package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
)

// basketMap is the source map of the file in which the errors of the basket happened, as far as they need it.
func basketMap() map[string]any {
	return map[string]any{
		"version": 3,
		"sources": []string{"src/basket/bundle.ts", "src/basket/line.tsx", "src/basket/page.tsx"},
		"sourcesContent": []string{
			"import type { Bundle } from \"./types\";\n\nexport function bundlePrice(bundle: Bundle): number {\n" +
				"  return bundle.items.reduce((sum, item) => sum + item.offer.price, 0);\n}\n",
			"import { bundlePrice } from \"./bundle\";\nimport type { Line } from \"./types\";\n\nexport function renderLine(line: Line) {\n" +
				"  const price = bundlePrice(line.bundle);\n  return <BasketLine key={line.id} title={line.title} price={price} />;\n}\n",
			"import { useMemo } from \"react\";\nimport { renderLine } from \"./line\";\nimport type { Line } from \"./types\";\n\n" +
				"export function BasketPage({ lines }: { lines: Line[] }) {\n  const rows = useMemo(() => lines.map(renderLine), [lines]);\n" +
				"  return <ul className=\"basket\">{rows}</ul>;\n}\n",
		},
		"names":    []string{"bundlePrice", "useMemo"},
		"mappings": "qzjBAG6D,0pFCC7CA,siDCCDC",
	}
}

// uploadMap uploads the source map as the shop's build does, so that the page of the error shows the original code.
func uploadMap(ctx context.Context, base, key string) error {
	event, err := json.Marshal(map[string]string{
		"type": "js_sourcemap", "service": "shop-web", "version": "2026.4.2", "minified_url": "/assets/basket-4f9a2b1c.js",
		"git_repository_url": "https://git." + domain + "/shop/web", "git_commit_sha": "4f9a2b1cd07e5a13b6c28f90e4d7a1b35c60f8e2",
	})
	if err != nil {
		return err
	}
	text, err := json.Marshal(basketMap())
	if err != nil {
		return err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, part := range []struct{ name, text string }{{"event", string(event)}, {"source_map", string(text)}} {
		if err := form.WriteField(part.name, part.text); err != nil {
			return err
		}
	}
	if err := form.Close(); err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/sourcemap/upload", &body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("DD-API-KEY", key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
		return fmt.Errorf("status %d: %s", answer.StatusCode, text)
	}
	return nil
}
