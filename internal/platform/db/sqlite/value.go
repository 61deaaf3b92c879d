package sqlite

import (
	"fmt"
	"reflect"

	"zombiezen.com/go/sqlite"

	"tocsin/internal/platform/db/driver"
)

// bind sets the value of a parameter, numbered from 1.
func (s *statement) bind(i int, arg any) error {
	switch v := arg.(type) {
	case int64:
		s.BindInt64(i, v)
	case string:
		s.BindText(i, driver.Storable(v))
	case bool:
		s.BindBool(i, v)
	case int:
		s.BindInt64(i, int64(v))
	case []byte:
		s.BindBytes(i, v)
	case nil:
		s.BindNull(i)
	default:
		return s.bindOther(i, reflect.ValueOf(arg))
	}
	return nil
}

// bindOther binds what bind has no case for: pointers (nil is NULL), floats and named types.
func (s *statement) bindOther(i int, v reflect.Value) error {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		s.BindNull(i)
	case v.Kind() == reflect.Pointer:
		return s.bind(i, v.Elem().Interface())
	case v.CanInt():
		s.BindInt64(i, v.Int())
	case v.Kind() == reflect.String:
		s.BindText(i, driver.Storable(v.String()))
	case v.Kind() == reflect.Bool:
		s.BindBool(i, v.Bool())
	case v.CanFloat():
		s.BindFloat(i, v.Float())
	default: // unsigned numbers too: the caller chooses how the upper half is stored
		return fmt.Errorf("$%d is a %s, which no column holds", i, v.Type())
	}
	return nil
}

// scan reads the current row.
func (s *statement) scan(dest ...any) error {
	if n := s.ColumnCount(); n != len(dest) {
		return fmt.Errorf("%d columns are read into %d variables", n, len(dest))
	}
	for i, d := range dest {
		if err := s.column(i, d); err != nil {
			return fmt.Errorf("column %s: %w", s.ColumnName(i), err)
		}
	}
	return nil
}

// column reads one column of the current row into the pointer dest.
func (s *statement) column(i int, dest any) error {
	kind := s.ColumnType(i)
	switch d := dest.(type) {
	case *int64:
		*d = s.ColumnInt64(i)
		return want(kind, sqlite.TypeInteger)
	case *string:
		*d = s.ColumnText(i)
		return want(kind, sqlite.TypeText)
	case *bool:
		*d = s.ColumnBool(i)
		return want(kind, sqlite.TypeInteger)
	}
	return s.columnOther(i, kind, reflect.ValueOf(dest).Elem())
}

// columnOther reads a column into what column has no case for: pointers (NULL is nil), floats, bytes and named types.
func (s *statement) columnOther(i int, kind sqlite.ColumnType, d reflect.Value) error {
	switch {
	case d.Kind() == reflect.Pointer && kind == sqlite.TypeNull:
		d.SetZero()
		return nil
	case d.Kind() == reflect.Pointer:
		d.Set(reflect.New(d.Type().Elem()))
		return s.column(i, d.Interface())
	case d.CanInt():
		d.SetInt(s.ColumnInt64(i))
		return want(kind, sqlite.TypeInteger)
	case d.Kind() == reflect.String:
		d.SetString(s.ColumnText(i))
		return want(kind, sqlite.TypeText)
	case d.Kind() == reflect.Bool:
		d.SetBool(s.ColumnBool(i))
		return want(kind, sqlite.TypeInteger)
	case d.CanFloat():
		d.SetFloat(s.ColumnFloat(i))
		return want(kind, sqlite.TypeFloat)
	case d.Type() == reflect.TypeFor[[]byte]():
		b := make([]byte, s.ColumnLen(i))
		s.ColumnBytes(i, b)
		d.SetBytes(b)
		return nil
	}
	return fmt.Errorf("it is read into a %s, which no column holds", d.Type())
}

// want returns an error for a column of another type. Without it the engine converts: NULL becomes 0 or "".
func want(got, want sqlite.ColumnType) error {
	if got != want {
		return fmt.Errorf("it is %v, want %v", got, want)
	}
	return nil
}
