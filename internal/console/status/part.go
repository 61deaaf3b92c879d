// Package status is the part of the console for status pages, and for the incidents and maintenances that they show. It must never
// import another part.
package status

import (
	"slices"

	"tocsin/internal/console/page"
)

// Part is the pages and forms of this package.
var Part = page.Part{Pages: slices.Concat(pagePages, changePages), Actions: slices.Concat(pageActions, changeActions)}
