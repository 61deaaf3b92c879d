package signin

import (
	"time"

	"tocsin/internal/person"
)

func refOf(i int64) person.Ref { return person.Ref{AccountID: 1, PersonID: i} }

func at(i int64) time.Time { return time.Unix(1776052800+i, 0) }
