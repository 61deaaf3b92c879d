package postgres

import (
	"context"

	"tocsin/internal/platform/db/driver"
)

// Alone runs a statement as the work on partitions does.
func (e *Engine) Alone(ctx context.Context, query string) error {
	return e.alone(ctx, func(q driver.Session) error { return run(q, query) })
}
