package client

import (
	"encoding/json"
	"maps"
	"strconv"
)

// versioned names the fields of a conversation that travel together with a number: of two versions the higher one holds, in whichever order
// they come.
var versioned = map[string][]string{ //nolint:gochecknoglobals // a table
	"info_version":     {"name", "avatar_url", "announcement", "owner_id"},
	"settings_version": {"pinned", "archived", "muted"},
}

// merged is a record after a frame whose fields win, but for those of an older version than the record's. The fields of session.info_updated
// stand in its `changes`.
func merged(record, payload json.RawMessage) (json.RawMessage, error) {
	fields, news := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if record != nil {
		if err := json.Unmarshal(record, &fields); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(payload, &news); err != nil {
		return nil, err
	}
	if changes, ok := news["changes"]; ok {
		delete(news, "changes")
		var changed map[string]json.RawMessage
		if err := json.Unmarshal(changes, &changed); err != nil {
			return nil, err
		}
		maps.Copy(news, changed)
	}
	for version, names := range versioned {
		if older(news[version], fields[version]) {
			delete(news, version)
			for _, name := range names {
				delete(news, name)
			}
		}
	}
	maps.Copy(fields, news)
	if err := giveRoles(fields); err != nil {
		return nil, err
	}
	return encode(fields)
}

func older(version, than json.RawMessage) bool {
	a, errA := strconv.ParseInt(string(version), 10, 64)
	b, errB := strconv.ParseInt(string(than), 10, 64)
	return errA == nil && errB == nil && a < b
}

// giveRoles makes the one who owns a conversation the one member with that role.
func giveRoles(fields map[string]json.RawMessage) error {
	var owner MemberID
	var members []json.RawMessage
	if json.Unmarshal(fields["owner_id"], &owner) != nil || json.Unmarshal(fields["members"], &members) != nil {
		return nil //nolint:nilerr // a record without them
	}
	changed := false
	for i, m := range members {
		role, is := textField(m, "role"), textField(m, "member_id") == owner
		if role == "" || is == (role == string(MemberRoleOwner)) {
			continue
		}
		now := MemberRoleMember
		if is {
			now = MemberRoleOwner
		}
		given, err := with(m, "role", now)
		if err != nil {
			return err
		}
		members[i], changed = given, true
	}
	if !changed {
		return nil
	}
	all, err := encode(members)
	fields["members"] = all
	return err
}

// with is an object with a field set.
func with(object json.RawMessage, name string, value any) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, err
	}
	var err error
	if fields[name], err = encode(value); err != nil {
		return nil, err
	}
	return encode(fields)
}
