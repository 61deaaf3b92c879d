package console

// chinese holds the texts of the console in Chinese, by their English text.
var chinese = map[string]string{
	"Now":       "当前",
	"Incidents": "故障",
}
