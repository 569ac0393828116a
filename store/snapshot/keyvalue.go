package snapshot

// A keyValue is what is needed of an mvccpb.KeyValue (etcd's
// api/mvccpb/kv.proto): 1 key, 2 create_revision, 3 mod_revision, 4 version,
// 5 value, 6 lease.
type keyValue struct {
	key, value           []byte
	create, mod, version int64
	lease                int64
	unknown              bool // it has a field that is none of these
}

// The tags of the fields: the number times 8, and the wire type, which is 2 for
// bytes and 0 for numbers.
const (
	tagKey     = 1*8 + 2
	tagCreate  = 2 * 8
	tagMod     = 3 * 8
	tagVersion = 4 * 8
	tagValue   = 5*8 + 2
	tagLease   = 6 * 8
)

// parseKeyValue reads a KeyValue. Fields that a later etcd may add are passed
// over; the wrong type for one of the six is not.
func parseKeyValue(b []byte) (kv keyValue, ok bool) {
	for len(b) > 0 {
		var tag, n uint64
		if tag, b, ok = uvarint(b); !ok {
			return kv, false
		}
		if tag > tagLease {
			kv.unknown = true
			if b, ok = skipField(tag, b); !ok {
				return kv, false
			}
			continue
		}
		if n, b, ok = uvarint(b); !ok {
			return kv, false
		}
		switch tag {
		case tagKey, tagValue:
			if n > uint64(len(b)) {
				return kv, false
			}
			if tag == tagKey {
				kv.key = b[:n]
			} else {
				kv.value = b[:n]
			}
			b = b[n:]
		case tagCreate:
			kv.create = int64(n)
		case tagMod:
			kv.mod = int64(n)
		case tagVersion:
			kv.version = int64(n)
		case tagLease:
			kv.lease = int64(n)
		default:
			return kv, false
		}
	}
	return kv, true
}

// uvarint reads a variable-length integer of at most 64 bits.
func uvarint(b []byte) (v uint64, rest []byte, ok bool) {
	for i, c := range b {
		if i == 10 || i == 9 && c > 1 {
			return 0, nil, false
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, b[i+1:], true
		}
	}
	return 0, nil, false
}

// skipField passes over the value of a field by its wire type.
func skipField(tag uint64, b []byte) (rest []byte, ok bool) {
	if tag>>3 <= 6 || tag>>3 >= 1<<29 {
		return nil, false // one of ours with the wrong type, or no field number
	}
	n := uint64(0)
	switch tag & 7 {
	case 0:
		_, rest, ok = uvarint(b)
		return rest, ok
	case 1:
		n = 8
	case 2:
		if n, b, ok = uvarint(b); !ok {
			return nil, false
		}
	case 5:
		n = 4
	default:
		return nil, false
	}
	if n > uint64(len(b)) {
		return nil, false
	}
	return b[n:], true
}
