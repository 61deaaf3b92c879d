package edge

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// keyPrefix begins every key, so that people and secret scanners recognise a key in a file.
const keyPrefix = "ek_"

// maxName is the longest name of a key or a cluster, in characters.
const maxName = 255

// The states of a key.
const (
	enabled  = "enabled"
	disabled = "disabled"
)

// Key is a key with which the members of a cluster sign in. Only its hash is stored.
type Key struct {
	KeyID       int64  `json:"key_id" doc:"The key."`
	KeyName     string `json:"key_name" doc:"Its name."`
	ClusterName string `json:"cluster_name" doc:"The cluster whose members it admits."`
	Status      string `json:"status" enum:"enabled,disabled" doc:"A disabled key is refused at the next call."`
	CreatedAt   int64  `json:"created_at" doc:"When it was made, Unix milliseconds."`
	CreatedBy   int64  `json:"created_by" doc:"The person who made it."`
	UsedAt      int64  `json:"used_at,omitzero" doc:"When an edge joined with it last, Unix milliseconds; absent: never."`

	Account int64 `json:"-"`
}

const keyColumns = `account_id, key_id, key_name, cluster_name, status, created_at, created_by, used_at`

func scanKey(row db.Scan) (k Key, err error) {
	return k, row(&k.Account, &k.KeyID, &k.KeyName, &k.ClusterName, &k.Status, &k.CreatedAt, &k.CreatedBy, &k.UsedAt)
}

func hashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// FindKey returns an enabled key by its text.
func FindKey(tx *db.Tx, text string) (Key, bool, error) {
	return db.One(tx, scanKey, `SELECT `+keyColumns+` FROM edge_key WHERE key_hash = $1 AND status = 'enabled'`, hashOf(text))
}

// UsedKey notes that a member joined with a key.
func UsedKey(tx *db.Tx, k Key, now int64) error {
	return tx.Do(`UPDATE edge_key SET used_at = $3 WHERE account_id = $1 AND key_id = $2`, k.Account, k.KeyID, now)
}

func keysOf(tx *db.Tx, account int64) ([]Key, error) {
	return db.All(tx, scanKey, `SELECT `+keyColumns+` FROM edge_key WHERE account_id = $1 ORDER BY key_id`, account)
}

// CreateKeyRequest is a key to create.
type CreateKeyRequest struct {
	KeyName     string `json:"key_name" minLength:"1" maxLength:"255" doc:"What the key is for."`
	ClusterName string `json:"cluster_name" minLength:"1" maxLength:"255" doc:"The cluster whose members it admits; not default, which is the server itself."`
}

// Check refuses the server's own cluster.
func (in CreateKeyRequest) Check() error {
	if in.ClusterName == datasource.DefaultCluster {
		return fault.Invalid("cluster_name", "must not be %s: the server itself evaluates it", datasource.DefaultCluster)
	}
	return nil
}

// CreatedKey is the key that was created.
type CreatedKey struct {
	KeyID int64  `json:"key_id" doc:"The key."`
	Key   string `json:"key" doc:"What edges sign in with. It is shown this once."`
}

func createKey(c *api.Call, in CreateKeyRequest) (reply CreatedKey, err error) {
	account := c.Who.AccountID
	keys, err := keysOf(c.Tx, account)
	if err != nil {
		return reply, err
	}
	if len(keys) >= maxKeys {
		return reply, fault.New(fault.Conflict, "an account has at most %d keys of edges", maxKeys)
	}
	if err := within(c.Tx, account, in.ClusterName); err != nil {
		return reply, err
	}
	reply = CreatedKey{KeyID: id.Number(), Key: keyPrefix + id.Token(32)}
	c.Touched(kindKey, reply.KeyID, in.KeyName)
	return reply, c.Tx.Do(`INSERT INTO edge_key (key_hash, `+keyColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0)`,
		hashOf(reply.Key), account, reply.KeyID, in.KeyName, in.ClusterName, enabled, c.Now.UnixMilli(), c.Who.PersonID)
}

// kindKey is what the audit log calls a key.
const kindKey = "edge_key"

// UpdateKeyRequest is what changes of a key. An absent member stays as it is.
type UpdateKeyRequest struct {
	KeyID   int64   `json:"key_id" minimum:"1" doc:"The key."`
	KeyName *string `json:"key_name,omitzero" minLength:"1" maxLength:"255" doc:"What it is for."`
	Status  *string `json:"status,omitzero" enum:"enabled,disabled" doc:"A disabled key is refused at the next call of an edge, which then deletes its configuration and stops."`
}

func updateKey(c *api.Call, in UpdateKeyRequest) (api.Empty, error) {
	k, err := getKey(c, in.KeyID)
	if err != nil {
		return api.Empty{}, err
	}
	configstore.SetIfSent(&k.KeyName, in.KeyName)
	configstore.SetIfSent(&k.Status, in.Status)
	c.Touched(kindKey, k.KeyID, k.KeyName)
	return api.Empty{}, c.Tx.Do(`UPDATE edge_key SET key_name = $3, status = $4 WHERE account_id = $1 AND key_id = $2`,
		k.Account, k.KeyID, k.KeyName, k.Status)
}

func getKey(c *api.Call, key int64) (Key, error) {
	k, found, err := db.One(c.Tx, scanKey, `SELECT `+keyColumns+` FROM edge_key WHERE account_id = $1 AND key_id = $2`, c.Who.AccountID, key)
	if err == nil && !found {
		err = fault.Missing("edge key", key)
	}
	return k, err
}

// ListRequest asks for what belongs to a cluster.
type ListRequest struct {
	ClusterName string `json:"cluster_name,omitzero" maxLength:"255" doc:"The cluster; absent: all."`
}

func listKeys(c *api.Call, in ListRequest) (list api.Items[Key], err error) {
	list.Items = []Key{}
	keys, err := keysOf(c.Tx, c.Who.AccountID)
	for _, k := range keys {
		if cmp.Or(in.ClusterName, k.ClusterName) == k.ClusterName {
			list.Items = append(list.Items, k)
		}
	}
	return list, err
}

// DeleteKeyRequest names a key to delete.
type DeleteKeyRequest struct {
	KeyID int64 `json:"key_id" minimum:"1" doc:"The key."`
	api.DryRun
}

func deleteKey(c *api.Call, in DeleteKeyRequest) (api.Removal, error) {
	k, err := getKey(c, in.KeyID)
	if err != nil {
		return api.Removal{}, err
	}
	c.Removed(kindKey, k.KeyID, k.KeyName)
	return api.Removal{}, c.Tx.Do(`DELETE FROM edge_key WHERE account_id = $1 AND key_id = $2`, k.Account, k.KeyID)
}
