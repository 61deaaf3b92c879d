//go:build !oracle

package app

import "tocsin/internal/querier"

// addOracle adds nothing: the driver of Oracle Database would be a quarter of the program.
func addOracle(querier.Types) {}
