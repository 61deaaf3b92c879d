package render

import (
	"fmt"
	"reflect"
	"slices"
)

// maxHeld is the number of bytes that a list or a dictionary may hold, with everything in it. Without a bound a template
// of one line builds lists of lists that cannot be printed in a lifetime.
const maxHeld = 1 << 20

// hold takes the size of values that become part of a list or a dictionary from the budget.
func (b *budget) hold(values ...any) error {
	left := maxHeld
	for _, v := range values {
		weigh(reflect.ValueOf(v), &left)
	}
	if left < 0 {
		return fmt.Errorf("more than %d bytes in a list or dictionary", maxHeld)
	}
	return b.take(maxHeld - left)
}

// weigh takes the size of a value from left, until nothing is left. No value of a template contains itself.
func weigh(v reflect.Value, left *int) {
	if *left -= 16; *left < 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		*left -= v.Len()
	case reflect.Slice, reflect.Array:
		for i := 0; i < v.Len() && *left >= 0; i++ {
			weigh(v.Index(i), left)
		}
	case reflect.Map:
		for it := v.MapRange(); *left >= 0 && it.Next(); {
			weigh(it.Key(), left)
			weigh(it.Value(), left)
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && *left >= 0; i++ {
			weigh(v.Field(i), left)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			weigh(v.Elem(), left)
		}
	}
}

func (b *budget) dict(pairs ...any) (map[string]any, error) {
	if err := b.hold(pairs...); err != nil {
		return nil, err
	}
	d := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		key, err := b.string(pairs[i])
		if err != nil {
			return nil, err
		}
		d[key] = ""
		if i+1 < len(pairs) {
			d[key] = pairs[i+1]
		}
	}
	return d, nil
}

// lookup returns the value of a key in a map; it is not valid when there is none.
func lookup(m any, key string) (reflect.Value, error) {
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Map || v.Type().Key().Kind() != reflect.String {
		return v, fmt.Errorf("labels, fields or a dictionary are needed, got %T", m)
	}
	return v.MapIndex(reflect.ValueOf(key)), nil
}

// lookup is lookup with the key taken from the budget.
func (b *budget) lookup(m any, key string) (reflect.Value, error) {
	if err := b.spend(len(key)); err != nil {
		return reflect.Value{}, err
	}
	return lookup(m, key)
}

func (b *budget) get(m any, key string) (any, error) {
	v, err := b.lookup(m, key)
	if err != nil || !v.IsValid() {
		return "", err
	}
	return v.Interface(), nil
}

// keys returns the keys of maps in order.
func (b *budget) keys(m any) ([]string, error) {
	if _, err := lookup(m, ""); err != nil {
		return nil, err
	}
	all := make([]string, 0, reflect.ValueOf(m).Len())
	for _, key := range reflect.ValueOf(m).MapKeys() {
		all = append(all, key.String())
	}
	slices.Sort(all)
	return all, b.hold(all)
}

// values returns the values of a map in the order of its keys.
func (b *budget) values(m any) ([]any, error) {
	keys, err := b.keys(m)
	if err != nil {
		return nil, err
	}
	all := make([]any, 0, len(keys))
	for _, key := range keys {
		v, _ := lookup(m, key)
		all = append(all, v.Interface())
	}
	return all, b.hold(all...)
}

// in reports whether a value, as it is printed, is one of others, or is in a list among them.
func (b *budget) in(value any, others ...any) (bool, error) {
	want, err := b.string(value)
	if err != nil {
		return false, err
	}
	for _, other := range others {
		list := reflect.ValueOf(other)
		if list.Kind() != reflect.Slice {
			list = reflect.ValueOf([]any{other})
		}
		for i := range list.Len() {
			if is, err := b.string(list.Index(i).Interface()); err != nil || is == want {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// element returns an element of a list, counted from the end if n is negative; nil if there is none.
func element(list any, n int) (any, error) {
	v := reflect.ValueOf(list)
	if v.Kind() != reflect.Slice {
		return nil, fmt.Errorf("a list is needed, got %T", list)
	}
	if n < 0 {
		n += v.Len()
	}
	if n < 0 || n >= v.Len() {
		return nil, nil
	}
	return v.Index(n).Interface(), nil
}

// texts returns the elements of a list as they are printed; a value that is no list is a list of one.
func (b *budget) texts(list any) ([]string, error) {
	switch l := list.(type) {
	case []string:
		return l, nil
	case map[string]any, map[string]string:
		return nil, fmt.Errorf("a list is needed, got %T", list)
	}
	v := reflect.ValueOf(list)
	if v.Kind() != reflect.Slice {
		v = reflect.ValueOf([]any{list})
	}
	all := make([]string, 0, v.Len())
	for i := range v.Len() {
		s, err := b.string(v.Index(i).Interface())
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
