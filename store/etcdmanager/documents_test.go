package etcdmanager

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// The documents as their writers leave them: kops and etcd-manager before
// 2026-04 put one space behind a colon, etcd-manager since then two in some of
// its builds. kops before 2019 wrote the spec in snake_case.
const (
	specOfKops       = "{\n  \"memberCount\": 3,\n  \"etcdVersion\": \"3.5.30\"\n}"
	specOfKopsOnce   = "{\n  \"member_count\": 1,\n  \"etcd_version\": \"2.2.1\"\n}"
	specOfManager    = "{\n  \"memberCount\":  1,\n  \"etcdVersion\":  \"3.6.11\"\n}"
	metaOfManager    = "{\n  \"etcdVersion\":  \"3.6.11\",\n  \"timestamp\":  \"1796061977\",\n  \"clusterSpec\":  {\n    \"memberCount\":  1,\n    \"etcdVersion\":  \"3.6.11\"\n  }\n}"
	metaOnce         = "{\n  \"etcdVersion\": \"3.4.13\",\n  \"timestamp\": \"1704067200\",\n  \"clusterSpec\": {\n    \"memberCount\": 3,\n    \"etcdVersion\": \"3.4.13\"\n  }\n}"
	commandOfManager = "{\n  \"timestamp\":  \"1796063532621853308\",\n  \"restoreBackup\":  {\n    \"clusterSpec\":  {\n      \"memberCount\":  1,\n      \"etcdVersion\":  \"3.6.11\"\n    },\n    \"backup\":  \"2026-11-30T18:06:17Z-000005\"\n  }\n}"
	createdOfManager = `{"timestamp":1796061855027336310}`
)

// specs are specs that etcd-manager reads, and what it reads.
var specs = map[string]ClusterSpec{
	specOfKops:     {3, "3.5.30"},
	specOfKopsOnce: {1, "2.2.1"},
	specOfManager:  {1, "3.6.11"},

	// Absent, null and zero are one.
	`{}`:                      {},
	" \t\r\n{ \t\r\n} \t\r\n": {},
	`{"memberCount":null,"etcdVersion":null}`: {},
	`{"memberCount":0,"etcdVersion":""}`:      {},
	`{"memberCount":-1}`:                      {-1, ""},

	// One name, many spellings.
	`{"member_count":3,"etcdVersion":"x"}`: {3, "x"},
	`{"\u006demberCount":3}`:               {3, ""},

	// Whole numbers, however written.
	`{"memberCount":"3"}`:                           {3, ""},
	`{"memberCount":"\u0033"}`:                      {3, ""},
	`{"memberCount":3.0}`:                           {3, ""},
	`{"memberCount":"3.000"}`:                       {3, ""},
	`{"memberCount":3e2}`:                           {300, ""},
	`{"memberCount":3E+2}`:                          {300, ""},
	`{"memberCount":300e-2}`:                        {3, ""},
	`{"memberCount":0.3e1}`:                         {3, ""},
	`{"memberCount":-0}`:                            {},
	`{"memberCount":0e99999999999}`:                 {},
	`{"memberCount":-0.000e-9}`:                     {},
	`{"memberCount":3e}`:                            {3, ""},
	`{"memberCount":3E ,"etcdVersion":""}`:          {3, ""},
	`{"memberCount":2147483647}`:                    {math.MaxInt32, ""},
	`{"memberCount":-2147483648}`:                   {math.MinInt32, ""},
	`{"memberCount":1000000000000000000000000e-24}`: {1, ""},
	`{"memberCount":0.00000000000000000003e20}`:     {3, ""},

	// Strings.
	`{"etcdVersion":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é😀"}`:   {0, "\"\\/\b\f\n\r\té😀é😀"},
	`{"etcdVersion":"\u0000\ufffd` + "\uFFFD\x7f\u2028" + `"}`: {0, "\x00\uFFFD\uFFFD\x7f\u2028"},
}

func seconds(n int64) time.Time { return time.Unix(n, 0).UTC() }

func nanos(n int64) time.Time { return time.Unix(0, n).UTC() }

func TestParseSpec(t *testing.T) {
	for in, want := range specs {
		got, err := ParseSpec([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		} else if got != want {
			t.Errorf("%s: %+v, want %+v", in, got, want)
		}
	}
}

// metas are meta files that etcd-manager reads, and what it reads.
var metas = map[string]BackupInfo{
	metaOfManager: {"3.6.11", time.Date(2026, 11, 30, 18, 6, 17, 0, time.UTC), &ClusterSpec{1, "3.6.11"}},
	metaOnce:      {"3.4.13", time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), &ClusterSpec{3, "3.4.13"}},

	`{}`:                                    {},
	`{"timestamp":"0"}`:                     {},
	`{"clusterSpec":null,"timestamp":null}`: {},
	`{"clusterSpec":{}}`:                    {ClusterSpec: &ClusterSpec{}},
	`{"cluster_spec":{"member_count":"5"}}`: {ClusterSpec: &ClusterSpec{5, ""}},
	`{"timestamp":1796061977}`:              {Timestamp: seconds(1796061977)},
	`{"timestamp":1.796061977e9}`:           {Timestamp: seconds(1796061977)},
	`{"timestamp":-1}`:                      {Timestamp: seconds(-1)},
	`{"timestamp":9223372036854775807}`:     {Timestamp: seconds(math.MaxInt64)},
	`{"timestamp":"-9223372036854775808"}`:  {Timestamp: seconds(math.MinInt64)},
	`{"timestamp":9223372036854775807.000}`: {Timestamp: seconds(math.MaxInt64)},
	`{"timestamp":922337203685477580.7e1}`:  {Timestamp: seconds(math.MaxInt64)},
}

func TestParseMeta(t *testing.T) {
	for in, want := range metas {
		got, err := ParseMeta([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", in, got, want)
		}
	}
}

// commands are commands that etcd-manager reads, and what it reads.
var commands = map[string]Command{
	commandOfManager: {
		Timestamp: time.Date(2026, 11, 30, 18, 32, 12, 621853308, time.UTC),
		Nanos:     1796063532621853308,
		Restore:   &RestoreBackup{"2026-11-30T18:06:17Z-000005", &ClusterSpec{1, "3.6.11"}},
	},
	`{}`:                                      {},
	`{"restoreBackup":null}`:                  {},
	`{"restoreBackup":{}}`:                    {Restore: &RestoreBackup{}},
	`{"restore_backup":{"backup":"b"}}`:       {Restore: &RestoreBackup{Backup: "b"}},
	`{"restoreBackup":{"clusterSpec":{}}}`:    {Restore: &RestoreBackup{ClusterSpec: &ClusterSpec{}}},
	`{"restoreBackup":{"cluster_spec":null}}`: {Restore: &RestoreBackup{}},
	`{"timestamp":0}`:                         {},
	`{"timestamp":1}`:                         {Timestamp: nanos(1), Nanos: 1},
	`{"timestamp":"-9223372036854775808"}`:    {Timestamp: nanos(math.MinInt64), Nanos: math.MinInt64},
}

func TestParseCommand(t *testing.T) {
	for in, want := range commands {
		got, err := ParseCommand([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", in, got, want)
		}
	}
}

// refused are documents that no parser may accept, with what it says of them.
// The parser is that of the command where the document is about one, else that
// of the spec.
var refused = map[string]string{
	// Not one object.
	"":                      "offset 0: expected \"{\", found the end",
	" \n":                   "offset 2: expected \"{\", found the end",
	"not json":              "offset 0: expected \"{\", found `not`",
	"null":                  "offset 0: expected \"{\", found `null`",
	"[]":                    "offset 0: expected \"{\", found `[`",
	`"{}"`:                  "offset 0: expected \"{\", found `\"{}\"`",
	"\uFEFF{}":              "offset 0: expected \"{\", found \"\\ufeff\"",
	"\x00":                  "offset 0: expected \"{\", found \"\\x00\"",
	"\v{}":                  "offset 0: expected \"{\", found \"\\v\"",
	"{":                     "offset 1: expected a field name, found the end",
	"{} {}":                 "offset 3: expected the end, found `{`",
	"{},":                   "offset 2: expected the end, found `,`",
	"{}\x00":                "offset 2: expected the end, found \"\\x00\"",
	"// x\n{}":              "offset 0: expected \"{\", found `/`",
	strings.Repeat("{", 99): "offset 1: expected a field name, found `{`",

	// Fields.
	`{"foo":1}`:                                   "offset 1: expected the field memberCount or etcdVersion, found `\"foo\"`",
	`{"MemberCount":1}`:                           "offset 1: expected the field memberCount or etcdVersion, found `\"MemberCount\"`",
	`{"":1}`:                                      "offset 1: expected the field memberCount or etcdVersion, found `\"\"`",
	`{"[x]":1}`:                                   "offset 1: expected the field memberCount or etcdVersion, found `\"[x]\"`",
	`{"memberCount":3,"memberCount":3}`:           "offset 17: expected memberCount only once, found `\"memberCount\"`",
	`{"memberCount":3,"member_count":3}`:          "offset 17: expected memberCount only once, found `\"member_count\"`",
	`{"memberCount":null,"memberCount":3}`:        "offset 20: expected memberCount only once, found `\"memberCount\"`",
	`{"memberCount"}`:                             "offset 14: expected \":\", found `}`",
	`{"memberCount":}`:                            "offset 15: expected a whole number of 32 bits for memberCount, found `}`",
	`{"memberCount":3,}`:                          "offset 17: expected a field name, found `}`",
	`{,"memberCount":3}`:                          "offset 1: expected a field name, found `,`",
	`{"memberCount":3 "etcdVersion":""}`:          "offset 17: expected \",\" or \"}\", found `\"etcdVersion\"`",
	`{"memberCount":3,,"etcdVersion":""}`:         "offset 17: expected a field name, found `,`",
	`{"memberCount":3]`:                           "offset 16: expected \",\" or \"}\", found `]`",
	`{memberCount:3}`:                             "offset 1: expected a field name, found `memberCount`",
	`{"memberCount":nullx}`:                       "offset 19: expected \",\" or \"}\", found `x`",
	`{"memberCount":nul}`:                         "offset 15: expected a whole number of 32 bits for memberCount, found `nul`",
	"{\n  \"memberCount\": 3,\n  \"etcdVersion\"": "offset 37: expected \":\", found the end",

	// Numbers.
	`{"memberCount":true}`:                       "offset 15: expected a whole number of 32 bits for memberCount, found `true`",
	`{"memberCount":[3]}`:                        "offset 15: expected a whole number of 32 bits for memberCount, found `[`",
	`{"memberCount":{}}`:                         "offset 15: expected a whole number of 32 bits for memberCount, found `{`",
	`{"memberCount":"three"}`:                    "offset 15: expected a whole number of 32 bits for memberCount, found `\"three\"`",
	`{"memberCount":""}`:                         "offset 15: expected a whole number of 32 bits for memberCount, found `\"\"`",
	`{"memberCount":" 3"}`:                       "offset 15: expected a whole number of 32 bits for memberCount, found `\" 3\"`",
	`{"memberCount":"3 "}`:                       "offset 15: expected a whole number of 32 bits for memberCount, found `\"3 \"`",
	`{"memberCount":"3e"}`:                       "offset 15: expected a whole number of 32 bits for memberCount, found `\"3e\"`",
	`{"memberCount":"3 x"}`:                      "offset 15: expected a whole number of 32 bits for memberCount, found `\"3 x\"`",
	`{"memberCount":"3,"}`:                       "offset 15: expected a whole number of 32 bits for memberCount, found `\"3,\"`",
	`{"memberCount":"null"}`:                     "offset 15: expected a whole number of 32 bits for memberCount, found `\"null\"`",
	`{"memberCount":"\"3\""}`:                    "offset 15: expected a whole number of 32 bits for memberCount, found `\"\\\"3\\\"\"`",
	`{"memberCount":2147483648}`:                 "offset 15: expected a whole number of 32 bits for memberCount, found `2147483648`",
	`{"memberCount":-2147483649}`:                "offset 15: expected a whole number of 32 bits for memberCount, found `-2147483649`",
	`{"memberCount":3.5}`:                        "offset 15: expected a whole number of 32 bits for memberCount, found `3.5`",
	`{"memberCount":35e-1}`:                      "offset 15: expected a whole number of 32 bits for memberCount, found `35e-1`",
	`{"memberCount":3e-1}`:                       "offset 15: expected a whole number of 32 bits for memberCount, found `3e-1`",
	`{"memberCount":3e+}`:                        "offset 15: expected a whole number of 32 bits for memberCount, found `3e+`",
	`{"memberCount":3e-2147483648}`:              "offset 15: expected a whole number of 32 bits for memberCount, found `3e-2147483648`",
	`{"memberCount":1e2147483647}`:               "offset 15: expected a whole number of 32 bits for memberCount, found `1e2147483647`",
	`{"memberCount":1e2147483648}`:               "offset 15: expected a whole number of 32 bits for memberCount, found `1e2147483648`",
	`{"memberCount":0.000000000000000000003e21}`: "offset 15: expected a whole number of 32 bits for memberCount, found `0.000000000000000000003e21`",
	`{"memberCount":+3}`:                         "offset 15: expected a whole number of 32 bits for memberCount, found `+3`",
	`{"memberCount":.3e1}`:                       "offset 15: expected a whole number of 32 bits for memberCount, found `.3e1`",
	`{"memberCount":-}`:                          "offset 15: expected a whole number of 32 bits for memberCount, found `-`",
	`{"memberCount":03}`:                         "offset 16: expected \",\" or \"}\", found `3`",
	`{"memberCount":3.}`:                         "offset 16: expected \",\" or \"}\", found `.`",
	`{"memberCount":3.e1}`:                       "offset 16: expected \",\" or \"}\", found `.e1`",
	`{"memberCount":0x3}`:                        "offset 16: expected \",\" or \"}\", found `x3`",
	`{"memberCount":3_0}`:                        "offset 16: expected \",\" or \"}\", found `_0`",
	`{"memberCount":NaN}`:                        "offset 15: expected a whole number of 32 bits for memberCount, found `NaN`",

	// Strings.
	`{"etcdVersion":3}`:                  "offset 15: expected a string for etcdVersion, found `3`",
	`{"etcdVersion":'3'}`:                "offset 15: expected a string for etcdVersion, found `'`",
	`{"etcdVersion":["3"]}`:              "offset 15: expected a string for etcdVersion, found `[`",
	`{"etcdVersion":"3`:                  "offset 17: expected the end of the string, found the end",
	`{"etcdVersion":"3\`:                 "offset 17: expected an escape sequence (\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u), found `\\`",
	`{"etcdVersion":"\x"}`:               "offset 16: expected an escape sequence (\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u), found `\\x\"}`",
	`{"etcdVersion":"\U0041"}`:           "offset 16: expected an escape sequence (\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u), found `\\U0041`",
	`{"etcdVersion":"\u00g0"}`:           "offset 16: expected \\u and the code of a character, found `\\u00g0`",
	`{"etcdVersion":"\u+123"}`:           "offset 16: expected \\u and the code of a character, found `\\u+123`",
	`{"etcdVersion":"\u12`:               "offset 16: expected \\u and the code of a character, found `\\u12`",
	`{"etcdVersion":"\ud83d"}`:           "offset 16: expected \\u and the code of a character, found `\\ud83d`",
	`{"etcdVersion":"\ude00\ud83d"}`:     "offset 16: expected \\u and the code of a character, found `\\ude00`",
	`{"etcdVersion":"\ud83d\u0041"}`:     "offset 16: expected \\u and the code of a character, found `\\ud83d`",
	`{"etcdVersion":"\ud83d\\ude00"}`:    "offset 16: expected \\u and the code of a character, found `\\ud83d`",
	"{\"etcdVersion\":\"\xff\"}":         "offset 16: expected UTF-8, found \"\\xff\"",
	"{\"etcdVersion\":\"\xc0\x80\"}":     "offset 16: expected UTF-8, found \"\\xc0\"",
	"{\"etcdVersion\":\"\xed\xa0\x80\"}": "offset 16: expected UTF-8, found \"\\xed\"",
	"{\"etcdVersion\":\"\n\"}":           "offset 16: expected a control character to be escaped, found \"\\n\"",
	"{\"etcdVersion\xff\":\"\"}":         "offset 13: expected UTF-8, found \"\\xff\"",

	// Commands.
	`{"createNewCluster":{}}`:                          "offset 1: expected the field timestamp or restoreBackup, found `\"createNewCluster\"`",
	`{"restoreBackup":[]}`:                             "offset 17: expected \"{\" for restoreBackup, found `[`",
	`{"restoreBackup":{"backup":"a","backup":"b"}}`:    "offset 31: expected backup only once, found `\"backup\"`",
	`{"restoreBackup":{"clusterSpec":{"size":3}}}`:     "offset 33: expected the field memberCount or etcdVersion, found `\"size\"`",
	`{"restoreBackup":{"clusterSpec":""}}`:             "offset 32: expected \"{\" for clusterSpec, found `\"\"`",
	`{"restoreBackup":{"memberCount":3}}`:              "offset 18: expected the field clusterSpec or backup, found `\"memberCount\"`",
	`{"timestamp":9223372036854775808}`:                "offset 13: expected a whole number of 64 bits for timestamp, found `9223372036854775808`",
	`{"timestamp":"2026-11-30T18:06:17Z"}`:             "offset 13: expected a whole number of 64 bits for timestamp, found `\"2026-11-30T18:06:17Z\"`",
	`{"timestamp":1,"restoreBackup":{},"timestamp":1}`: "offset 34: expected timestamp only once, found `\"timestamp\"`",
}

func TestErrorsSayWhatAndWhere(t *testing.T) {
	for in, want := range refused {
		var err error
		if strings.Contains(in, "timestamp") || strings.Contains(in, "restoreBackup") || strings.Contains(in, "create") {
			_, err = ParseCommand([]byte(in))
		} else {
			_, err = ParseSpec([]byte(in))
		}
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// TestReadsWhatEtcdManagerWrites goes through protojson's own writer, whose white
// space differs from build to build.
func TestReadsWhatEtcdManagerWrites(t *testing.T) {
	o := newOracle(t)
	set := func(m protoreflect.Message, name protoreflect.Name, v any) {
		m.Set(m.Descriptor().Fields().ByName(name), protoreflect.ValueOf(v))
	}
	spec := func(d protoreflect.Message, members int32, version string) {
		set(d, "member_count", members)
		set(d, "etcd_version", version)
	}
	sub := func(m protoreflect.Message, name protoreflect.Name) protoreflect.Message {
		return m.Mutable(m.Descriptor().Fields().ByName(name)).Message()
	}
	write := func(m proto.Message) []byte {
		b, err := protojson.MarshalOptions{Indent: "  "}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}

	m := dynamicpb.NewMessage(o.spec)
	spec(m, 3, "3.6.11")
	if got, err := ParseSpec(write(m)); err != nil || got != (ClusterSpec{3, "3.6.11"}) {
		t.Errorf("spec: %+v, %v", got, err)
	}

	m = dynamicpb.NewMessage(o.meta)
	set(m, "etcd_version", "3.6.11")
	set(m, "timestamp", int64(1796061977))
	spec(sub(m, "cluster_spec"), 1, "3.6.11")
	if got, err := ParseMeta(write(m)); err != nil || !reflect.DeepEqual(got, metas[metaOfManager]) {
		t.Errorf("meta: %+v, %v", got, err)
	}

	m = dynamicpb.NewMessage(o.command)
	set(m, "timestamp", int64(1796063532621853308))
	set(sub(m, "restore_backup"), "backup", "2026-11-30T18:06:17Z-000005")
	spec(sub(sub(m, "restore_backup"), "cluster_spec"), 1, "3.6.11")
	if got, err := ParseCommand(write(m)); err != nil || !reflect.DeepEqual(got, commands[commandOfManager]) {
		t.Errorf("command: %+v, %v", got, err)
	}
}

func TestMetaTimestampIsTheNumberWritten(t *testing.T) {
	for _, n := range []int64{1, -1, 1796061977, 1796061977000000000, math.MaxInt64, math.MinInt64} {
		info, err := ParseMeta(fmt.Appendf(nil, `{"timestamp":"%d"}`, n))
		if err != nil || info.Timestamp.Unix() != n {
			t.Errorf("%d: %d, %v", n, info.Timestamp.Unix(), err)
		}
	}
}

func TestCreatedTimestamp(t *testing.T) {
	for in, want := range map[string]int64{
		createdOfManager: 1796061855027336310,
		" {\n\"timestamp\" : 1796061855027336310 }\n": 1796061855027336310,
		`{"timestamp":"1796061855027336310"}`:         1796061855027336310,
		`{"by":["hand"],"timestamp":1}`:               1,
		`{"timestamp":-1}`:                            -1,
		`{"timestamp":1.5e9}`:                         1500000000,
	} {
		if got, ok := CreatedTimestamp([]byte(in)); !ok || !got.Equal(nanos(want)) || got.Location() != time.UTC {
			t.Errorf("%s: %v, %t, want %v", in, got, ok, nanos(want))
		}
	}
	for _, in := range []string{
		"", " ", "not json", "null", "[]", "1796061855027336310", "{}", `{"timestamp":null}`, `{"timestamp":0}`,
		`{"timestamp":""}`, `{"timestamp":"now"}`, `{"timestamp":[1]}`, `{"timestamp":true}`, `{"timestamp":1.5}`,
		`{"timestamp":9223372036854775808}`, `{"timestamp":1}x`, `{"timestamp":1`, strings.Repeat(`{"a":`, 100_000),
	} {
		if got, ok := CreatedTimestamp([]byte(in)); ok || !got.IsZero() {
			t.Errorf("%.40s: %v, %t, want none", in, got, ok)
		}
	}
}

func TestFormat(t *testing.T) {
	if got := string(FormatSpec(ClusterSpec{3, "3.5.30"})); got != specOfKops {
		t.Errorf("spec:\n%s\nwant\n%s", got, specOfKops)
	}
	if got := string(FormatSpec(ClusterSpec{})); got != "{}" {
		t.Errorf("the zero spec: %s", got)
	}
	if got := string(FormatCreated(nanos(1796061855027336310).In(time.FixedZone("", 3600)))); got != createdOfManager {
		t.Errorf("created: %s, want %s", got, createdOfManager)
	}
	if got := string(FormatCreated(time.Unix(0, 0))); got != `{"timestamp":0}` {
		t.Errorf("created at the epoch: %s", got)
	}
}
