package console

// chineseDense holds texts of pictures with many short turns.
var chineseDense = map[string]string{
	"%d short turns, which the list names": "%d 个短班次，见列表",
	"%d of %d periods.":                    "%d / %d 个时段。",
	"Show all of them":                     "显示全部",
}
