package render

import (
	"errors"
	"math"
	"reflect"
	"strconv"
)

// maxNumber is the longest text that is read as a number, in bytes. Reading a longer one would take time that no budget
// bounds.
const maxNumber = 100

// toInt64 returns a number, a text of one or a truth value as a whole number; 0 for any other value.
func toInt64(value any) int64 {
	v := reflect.ValueOf(value)
	switch {
	case v.CanInt():
		return v.Int()
	case v.Kind() == reflect.String && v.Len() <= maxNumber:
		if n, err := strconv.ParseInt(v.String(), 0, 64); err == nil {
			return n
		}
	}
	return int64(toFloat64(value))
}

// toFloat64 returns a number, a text of one or a truth value as a number; 0 for any other value.
func toFloat64(value any) float64 {
	v := reflect.ValueOf(value)
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanFloat():
		return v.Float()
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	case v.Kind() == reflect.String && v.Len() <= maxNumber:
		n, _ := strconv.ParseFloat(v.String(), 64)
		return n
	}
	return 0
}

func fold(start int64, values []any, combine func(a, b int64) int64) int64 {
	for _, v := range values {
		start = combine(start, toInt64(v))
	}
	return start
}

func divide(a, b any, by func(a, b int64) int64) (int64, error) {
	if toInt64(b) == 0 {
		return 0, errors.New("division by 0")
	}
	return by(toInt64(a), toInt64(b)), nil
}

// round rounds to so many decimal places, halves away from 0.
func round(value any, places int) float64 {
	scale := math.Pow(10, float64(max(0, min(places, 15))))
	return math.Round(toFloat64(value)*scale) / scale
}
