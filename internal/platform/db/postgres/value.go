package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/jackc/pgx/v5/pgconn"

	"tocsin/internal/platform/db/driver"
)

// Types of values, by their numbers in PostgreSQL.
const (
	typeBool    = 16
	typeBytes   = 17
	typeInt8    = 20
	typeInt2    = 21
	typeInt4    = 23
	typeText    = 25
	typeFloat8  = 701
	typeName    = 19
	typeVarchar = 1043
	typeNumeric = 1700
)

// valueOf returns the type and the binary form of an argument; a value of nil is NULL.
func valueOf(arg any) (kind uint32, value []byte, err error) {
	switch v := arg.(type) {
	case []byte:
		return typeBytes, v, nil
	case []any:
		return arrayValue(len(v), func(i int) any { return v[i] })
	case []int64:
		return arrayValue(len(v), func(i int) any { return v[i] })
	case columnOf:
		return arrayValue(len(v.rows), func(i int) any { return v.rows[i][v.at] })
	}
	kind, value, null, err := appendValue([]byte{}, arg)
	if null {
		value = nil
	}
	return kind, value, err
}

// columnOf is the array of the values that rows have in a column.
type columnOf struct {
	rows [][]any
	at   int
}

// appendValue appends the binary form of a value, unless it is NULL.
func appendValue(b []byte, arg any) (kind uint32, value []byte, null bool, err error) {
	switch v := arg.(type) {
	case int64:
		return typeInt8, appendInteger(b, v), false, nil
	case string:
		return typeText, append(b, driver.Storable(v)...), false, nil
	case bool:
		return typeBool, appendBoolean(b, v), false, nil
	case int:
		return typeInt8, appendInteger(b, int64(v)), false, nil
	case []byte:
		return typeBytes, append(b, v...), v == nil, nil
	case nil:
		return 0, b, true, nil
	}
	return appendOther(b, reflect.ValueOf(arg))
}

// appendOther is appendValue of pointers (nil is NULL), floats and named types.
func appendOther(b []byte, v reflect.Value) (kind uint32, value []byte, null bool, err error) {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		kind, _, _, err = appendOther(nil, reflect.Zero(v.Type().Elem()))
		return kind, b, true, err
	case v.Kind() == reflect.Pointer:
		return appendValue(b, v.Elem().Interface())
	case v.CanInt():
		return typeInt8, appendInteger(b, v.Int()), false, nil
	case v.Kind() == reflect.String:
		return typeText, append(b, driver.Storable(v.String())...), false, nil
	case v.Kind() == reflect.Bool:
		return typeBool, appendBoolean(b, v.Bool()), false, nil
	case v.CanFloat():
		return typeFloat8, appendInteger(b, int64(math.Float64bits(v.Float()))), false, nil //nolint:gosec // the bits are kept
	case v.Type() == reflect.TypeFor[[]byte]():
		return typeBytes, append(b, v.Bytes()...), v.IsNil(), nil
	}
	return 0, b, false, fmt.Errorf("it is a %s, which no column holds", v.Type())
}

// arrayOf are the types of arrays, by the types of their elements.
var arrayOf = map[uint32]uint32{typeBool: 1000, typeBytes: 1001, typeInt8: 1016, typeText: 1009, typeFloat8: 1022}

// arrayValue returns the type and the binary form of an array of n values of one type.
func arrayValue(n int, element func(int) any) (array uint32, value []byte, err error) {
	const head = 20 // five numbers, see below
	size := head
	for i := range n {
		size += 4 + 8
		if text, ok := element(i).(string); ok {
			size += len(text)
		}
	}
	value = make([]byte, head, size)
	kind := uint32(0)
	for i := range n {
		at := len(value)
		own, with, null, err := appendValue(append(value, 0, 0, 0, 0), element(i))
		switch {
		case err != nil:
			return 0, nil, err
		case own != 0 && kind != 0 && own != kind:
			return 0, nil, fmt.Errorf("row %d holds a value of another type than those before", i+1)
		}
		length := uint32(len(with) - at - 4) //nolint:gosec // of a value of the program
		if null {
			length = math.MaxUint32
		}
		binary.BigEndian.PutUint32(with[at:], length)
		value, kind = with, max(kind, own)
	}
	array, known := arrayOf[kind]
	if !known {
		return 0, nil, errors.New("a column has no type: every row holds NULL") // a pointer has one
	}
	for i, number := range []uint32{1, 1, kind, uint32(n), 1} { //nolint:gosec // dimensions, NULL may occur, type, length, first index
		binary.BigEndian.PutUint32(value[4*i:], number)
	}
	return array, value, nil
}

func appendInteger(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) } //nolint:gosec // the bits are kept

func appendBoolean(b []byte, is bool) []byte {
	if is {
		return append(b, 1)
	}
	return append(b, 0)
}

// rowOf is the current row of a result.
type rowOf struct {
	fields []pgconn.FieldDescription
	values [][]byte
}

func (r *rowOf) scan(dest ...any) error {
	if len(r.values) != len(dest) {
		return fmt.Errorf("%d columns are read into %d variables", len(r.values), len(dest))
	}
	for i, d := range dest {
		if err := column(r.fields[i].DataTypeOID, r.values[i], reflect.ValueOf(d).Elem()); err != nil {
			return fmt.Errorf("column %s: %w", r.fields[i].Name, err)
		}
	}
	return nil
}

// column stores a value of a column in the variable d.
func column(kind uint32, value []byte, d reflect.Value) error {
	if d.Kind() == reflect.Pointer {
		if value == nil {
			d.SetZero()
			return nil
		}
		d.Set(reflect.New(d.Type().Elem()))
		return column(kind, value, d.Elem())
	}
	if value == nil && d.Type() != reflect.TypeFor[[]byte]() {
		return errors.New("it is NULL")
	}
	switch kind {
	case typeInt8, typeInt4, typeInt2, typeNumeric:
		n, err := toInteger(kind, value)
		if err != nil || !d.CanInt() {
			return errors.Join(err, wrongType(d.CanInt(), "a number", d))
		}
		d.SetInt(n)
	case typeText, typeVarchar, typeName:
		switch {
		case d.Kind() == reflect.String:
			d.SetString(string(value))
		case d.Type() == reflect.TypeFor[[]byte]():
			d.SetBytes(append([]byte{}, value...))
		default:
			return wrongType(false, "text", d)
		}
	case typeBool:
		if d.Kind() != reflect.Bool {
			return wrongType(false, "a boolean", d)
		}
		d.SetBool(value[0] != 0)
	case typeFloat8:
		if !d.CanFloat() {
			return wrongType(false, "a float", d)
		}
		d.SetFloat(math.Float64frombits(binary.BigEndian.Uint64(value)))
	case typeBytes:
		if d.Type() != reflect.TypeFor[[]byte]() {
			return wrongType(false, "bytes", d)
		}
		d.SetBytes(append([]byte{}, value...))
	default:
		return fmt.Errorf("its type %d is not one that this program uses", kind)
	}
	return nil
}

func wrongType(fits bool, is string, d reflect.Value) error {
	if fits {
		return nil
	}
	return fmt.Errorf("it is %s, and read into a %s", is, d.Type())
}

// toInteger reads an integer. A sum of integers is numeric: groups of four decimal digits.
func toInteger(kind uint32, v []byte) (int64, error) {
	switch kind {
	case typeInt8:
		return int64(binary.BigEndian.Uint64(v)), nil //nolint:gosec // the bits are kept
	case typeInt4:
		return int64(int32(binary.BigEndian.Uint32(v))), nil //nolint:gosec // the bits are kept
	case typeInt2:
		return int64(int16(binary.BigEndian.Uint16(v))), nil //nolint:gosec // the bits are kept
	}
	digits, weight := int(binary.BigEndian.Uint16(v)), int(int16(binary.BigEndian.Uint16(v[2:]))) //nolint:gosec // the bits are kept
	sign := binary.BigEndian.Uint16(v[4:])
	if digits > weight+1 || weight > 4 || sign&0xC000 == 0xC000 {
		return 0, errors.New("it is a number that is no integer of 64 bits")
	}
	var n int64
	for i := range weight + 1 {
		n *= 10000
		if i < digits {
			n += int64(binary.BigEndian.Uint16(v[8+2*i:]))
		}
	}
	if sign == 0x4000 {
		n = -n
	}
	return n, nil
}
