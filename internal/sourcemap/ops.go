package sourcemap

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/ratelimit"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Config holds the dependencies of a Service.
type Config struct {
	DB      *db.DB
	Keys    *auth.Keys       // of callers that upload
	Guesses *api.KeyGuesses  // limits how many unknown keys an address may try
	Rate    ratelimit.Rate   // of uploads, for each account
	Share   *ratelimit.Share // of the rate, that this process accepts; nil: the whole
	Pace    *fair.Queue      // of reading uploads: a large map takes a good part of a second; nil: none waits
}

// Service holds the operations on source maps and their dependencies.
type Service struct {
	Config
	rates *ratelimit.Table[int64] // of uploads, by account
	seats *fair.Queue             // of showing stacks with maps
	cache *cache
}

// New returns the service.
func New(c Config) *Service {
	return &Service{
		Config: c, rates: ratelimit.New[int64](0).Divided(c.Share), seats: fair.NewQueue(fair.Long, c.DB.Meter()), cache: newCache(maxCache),
	}
}

// Ops returns the operations of this package.
func (s *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/sourcemap/list", Effect: api.Snapshot,
			Doc: "Source maps that were uploaded in a window of time, page by page, newest first.",
			Notes: "Only maps of type browser can be uploaded. Maps with the same time are sorted by their internal id, in the same " +
				"direction. created_at and updated_at are Unix seconds; the window is in milliseconds.",
			Example: `{"start_time": 1742958482000, "end_time": 1774494482000, "services": ["shop-web"], "query": "app.min"}`,
			Do:      api.Do(s.list),
		},
		{
			Path: "/sourcemap/stack/enrich", Effect: api.Snapshot, Allow: []auth.Permission{auth.ApplicationsRead, auth.ApplicationsManage},
			Doc: "A stack in the original code, as the source maps of a service's version have it, with the lines of code around each frame.",
			Notes: "The stack is read as Chrome, Firefox and Safari write it, or the Datadog library. A frame without a map stays as it is; " +
				"missing_files has those files of the application that no map is stored of. At most 100 frames are returned, and maps of " +
				"32 MiB together are read for one call. Other types than browser are returned as they are. Without a version the newest " +
				"map of each file is used.",
			Example: `{"type": "browser", "service": "shop-web", "version": "1.4.2", "near": 2, ` +
				`"stack": "TypeError: x\n  at i @ https://shop.example.com/assets/app.min.js:1:273"}`,
			Do: api.DoOutside(s.enrich),
		},
	})
}
