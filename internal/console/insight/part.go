// Package insight is the part of the console for figures of how incidents were handled. It must never import another part.
package insight

import (
	"tocsin/internal/console/page"
)

// Part is the pages and forms of this package.
var Part = page.Part{
	Pages:  insightPages,
	Others: []page.Other{{Pattern: "POST /insight/export", Do: exportInsight}},
}
