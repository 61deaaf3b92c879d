// The tests of the console in a real browser. They are a module of their own, so that what drives the browser is no
// dependency of the product.
module tocsin/test/browser

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.22.1
)

require github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect

replace tocsin => ../..
