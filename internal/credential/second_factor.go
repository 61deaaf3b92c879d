package credential

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"github.com/pquerna/otp/totp"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// SecondFactor is a person's time-based one-time password, as apps on a phone show it.
type SecondFactor struct {
	Secret      string // base32
	ConfirmedAt int64  // Unix seconds; 0: no code was entered so far, so none is asked for
	lastStep    int64
}

// step is how long a code is valid; codes of the step before and the next one are accepted too, for clocks that differ.
const step = 30

// recoveryCodes is how many codes stand in for a lost device.
const recoveryCodes = 10

// NewSecret returns a secret for a person's device: 160 bits, as RFC 4226 recommends.
func NewSecret() string {
	b := make([]byte, 20)
	rand.Read(b)
	return base32.StdEncoding.EncodeToString(b)
}

func placeOf(account, person int64) string {
	return fmt.Sprintf("second_factor/%d/%d", account, person)
}

// SecondFactorOf returns a person's second factor; found is false when none was set up.
func SecondFactorOf(tx *db.Tx, keyring *secret.Keyring, account, person int64) (f SecondFactor, found bool, err error) {
	f, found, err = db.One(tx,
		func(scan db.Scan) (f SecondFactor, err error) { return f, scan(&f.Secret, &f.ConfirmedAt, &f.lastStep) },
		`SELECT secret, confirmed_at, last_step FROM second_factor WHERE account_id = $1 AND person_id = $2`, account, person)
	if err != nil || !found {
		return f, false, err
	}
	f.Secret, err = keyring.Open(f.Secret, placeOf(account, person))
	return f, err == nil, err
}

// HasSecondFactor reports whether a person must enter a code to sign in.
func HasSecondFactor(tx *db.Tx, account, person int64) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM second_factor WHERE account_id = $1 AND person_id = $2 AND confirmed_at > 0`,
		account, person)
	return found, err
}

// BeginSecondFactor stores a secret that no code was entered of so far. It replaces an older one of that kind.
func BeginSecondFactor(tx *db.Tx, keyring *secret.Keyring, account, person int64, plain string) error {
	sealed, err := keyring.Seal(plain, placeOf(account, person))
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO second_factor (account_id, person_id, secret, confirmed_at, last_step) VALUES ($1, $2, $3, 0, 0)
		ON CONFLICT (account_id, person_id) DO UPDATE SET secret = excluded.secret, last_step = 0 WHERE second_factor.confirmed_at = 0`,
		account, person, sealed)
}

// AcceptCode reports whether a code is valid now and was not used before, and stores that it was used.
func AcceptCode(tx *db.Tx, account, person int64, f SecondFactor, code string, now time.Time) (bool, error) {
	at := f.stepOf(code, now)
	if at == 0 {
		return false, nil
	}
	n, err := tx.Exec(`UPDATE second_factor SET last_step = $1 WHERE account_id = $2 AND person_id = $3 AND last_step < $1`,
		at, account, person)
	return n == 1, err
}

// stepOf returns the step whose code it is, of those that are accepted now; 0: none.
func (f SecondFactor) stepOf(code string, now time.Time) (found int64) {
	code = strings.ReplaceAll(code, " ", "")
	for _, away := range []int64{-1, 0, 1} {
		at := now.Unix()/step + away
		want, err := totp.GenerateCode(f.Secret, time.Unix(at*step, 0))
		if err == nil && at > f.lastStep && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			found = at
		}
	}
	return found
}

// ConfirmSecondFactor makes codes required from now on, and returns the recovery codes: the only time that they can be
// seen.
func ConfirmSecondFactor(tx *db.Tx, account, person int64, now time.Time) (codes []string, err error) {
	err = tx.Do(`UPDATE second_factor SET confirmed_at = $1 WHERE account_id = $2 AND person_id = $3`, now.Unix(), account, person)
	if err != nil {
		return nil, err
	}
	if err := tx.Do(`DELETE FROM recovery_code WHERE account_id = $1 AND person_id = $2`, account, person); err != nil {
		return nil, err
	}
	for range recoveryCodes {
		b := make([]byte, 10)
		rand.Read(b)
		text := strings.ToLower(base32.StdEncoding.EncodeToString(b)) // 16 characters
		code := text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
		if err := tx.Do(`INSERT INTO recovery_code (account_id, person_id, code_hash) VALUES ($1, $2, $3)`,
			account, person, hash(foldCode(code))); err != nil {
			return nil, err
		}
		codes = append(codes, code)
	}
	return codes, nil
}

// AcceptRecoveryCode reports whether a person has a recovery code, and deletes it.
func AcceptRecoveryCode(tx *db.Tx, account, person int64, code string) (bool, error) {
	n, err := tx.Exec(`DELETE FROM recovery_code WHERE account_id = $1 AND person_id = $2 AND code_hash = $3`,
		account, person, hash(foldCode(code)))
	return n == 1, err
}

// RecoveryCodesLeft returns how many recovery codes a person has.
func RecoveryCodesLeft(tx *db.Tx, account, person int64) (int64, error) {
	n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM recovery_code WHERE account_id = $1 AND person_id = $2`, account, person)
	return n, err
}

// foldCode returns one form of a code, however a person types it.
func foldCode(code string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(code))
}

// ForgetSecondFactor deletes a person's second factor with its recovery codes.
func ForgetSecondFactor(tx *db.Tx, account, person int64) error {
	if err := tx.Do(`DELETE FROM recovery_code WHERE account_id = $1 AND person_id = $2`, account, person); err != nil {
		return err
	}
	return tx.Do(`DELETE FROM second_factor WHERE account_id = $1 AND person_id = $2`, account, person)
}

// Reseal passes the secrets of second factors through a function and returns how many there are.
func Reseal(tx *db.Tx, renew secret.Renew) (int, error) {
	type row struct {
		account, person int64
		sealed          string
	}
	rows, err := db.All(tx, func(scan db.Scan) (r row, err error) { return r, scan(&r.account, &r.person, &r.sealed) },
		`SELECT account_id, person_id, secret FROM second_factor`)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		sealed, err := renew(r.sealed, placeOf(r.account, r.person))
		if err != nil {
			return 0, err
		}
		err = tx.Do(`UPDATE second_factor SET secret = $1 WHERE account_id = $2 AND person_id = $3`, sealed, r.account, r.person)
		if err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}
