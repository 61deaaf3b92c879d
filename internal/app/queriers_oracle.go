//go:build oracle

package app

import (
	"tocsin/internal/querier"
	"tocsin/internal/querier/oracle"
)

func addOracle(types querier.Types) { types["oracle"] = oracle.Open }
