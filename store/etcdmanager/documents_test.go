package etcdmanager

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
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

// An oracle reads documents with protojson itself.
type oracle struct {
	spec, meta, command protoreflect.MessageDescriptor
}

// newOracle describes the messages as pkg/apis/etcd/etcdapi.proto does.
func newOracle(t testing.TB) oracle {
	t.Helper()
	f := func(n int32, name, camel string, kind descriptorpb.FieldDescriptorProto_Type, message string) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{
			Name:     proto.String(name),
			JsonName: proto.String(camel),
			Number:   proto.Int32(n),
			Label:    descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			Type:     kind.Enum(),
		}
		if message != "" {
			f.TypeName = proto.String(".etcd." + message)
		}
		return f
	}
	const (
		int32Type   = descriptorpb.FieldDescriptorProto_TYPE_INT32
		int64Type   = descriptorpb.FieldDescriptorProto_TYPE_INT64
		stringType  = descriptorpb.FieldDescriptorProto_TYPE_STRING
		messageType = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	)
	message := func(name string, fields ...*descriptorpb.FieldDescriptorProto) *descriptorpb.DescriptorProto {
		return &descriptorpb.DescriptorProto{Name: proto.String(name), Field: fields}
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name:    proto.String("etcdapi.proto"),
		Package: proto.String("etcd"),
		Syntax:  proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			message("ClusterSpec",
				f(1, "member_count", "memberCount", int32Type, ""),
				f(2, "etcd_version", "etcdVersion", stringType, "")),
			message("BackupInfo",
				f(1, "etcd_version", "etcdVersion", stringType, ""),
				f(2, "timestamp", "timestamp", int64Type, ""),
				f(3, "cluster_spec", "clusterSpec", messageType, "ClusterSpec")),
			message("RestoreBackupCommand",
				f(1, "cluster_spec", "clusterSpec", messageType, "ClusterSpec"),
				f(3, "backup", "backup", stringType, "")),
			message("Command",
				f(1, "timestamp", "timestamp", int64Type, ""),
				f(10, "restore_backup", "restoreBackup", messageType, "RestoreBackupCommand")),
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := file.Messages()
	return oracle{m.ByName("ClusterSpec"), m.ByName("BackupInfo"), m.ByName("Command")}
}

// get gives the value of a field; a message that is not set is invalid.
func get(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
	f := m.Descriptor().Fields().ByName(name)
	if f.Message() != nil && !m.Has(f) {
		return protoreflect.Value{}
	}
	return m.Get(f)
}

func (o oracle) readSpec(v protoreflect.Value) *ClusterSpec {
	if !v.IsValid() {
		return nil
	}
	m := v.Message()
	return &ClusterSpec{int32(get(m, "member_count").Int()), get(m, "etcd_version").String()}
}

func (o oracle) parse(b []byte, d protoreflect.MessageDescriptor) (protoreflect.Message, error) {
	m := dynamicpb.NewMessage(d)
	err := protojson.Unmarshal(b, m)
	return m, err
}

func (o oracle) ParseSpec(b []byte) (ClusterSpec, error) {
	m, err := o.parse(b, o.spec)
	if err != nil {
		return ClusterSpec{}, err
	}
	return *o.readSpec(protoreflect.ValueOfMessage(m)), nil
}

func (o oracle) ParseMeta(b []byte) (BackupInfo, error) {
	m, err := o.parse(b, o.meta)
	if err != nil {
		return BackupInfo{}, err
	}
	info := BackupInfo{EtcdVersion: get(m, "etcd_version").String(), ClusterSpec: o.readSpec(get(m, "cluster_spec"))}
	if n := get(m, "timestamp").Int(); n != 0 {
		info.Timestamp = seconds(n)
	}
	return info, nil
}

func (o oracle) ParseCommand(b []byte) (Command, error) {
	m, err := o.parse(b, o.command)
	if err != nil {
		return Command{}, err
	}
	c := Command{Nanos: get(m, "timestamp").Int()}
	if c.Nanos != 0 {
		c.Timestamp = nanos(c.Nanos)
	}
	if r := get(m, "restore_backup"); r.IsValid() {
		c.Restore = &RestoreBackup{get(r.Message(), "backup").String(), o.readSpec(get(r.Message(), "cluster_spec"))}
	}
	return c, nil
}

// compare has b read as each of the three messages, by us and by protojson. It
// reports how many of them accept it.
func (o oracle) compare(t testing.TB, b []byte) (accepted int) {
	t.Helper()
	same := func(message string, got, want any, err, wantErr error) {
		t.Helper()
		switch {
		case wantErr == nil && err != nil:
			t.Errorf("%s %q: refused, %v; protojson accepts it", message, b, err)
		case wantErr != nil && err == nil:
			t.Errorf("%s %q: accepted; protojson refuses it, %v", message, b, wantErr)
		case !reflect.DeepEqual(got, want):
			t.Errorf("%s %q: %+v, protojson reads %+v", message, b, got, want)
		}
		if err == nil {
			accepted++
			return
		}
		var at int
		if n, _ := fmt.Sscanf(err.Error(), "offset %d: expected", &at); n != 1 || at > len(b) {
			t.Errorf("%s %q: no offset within the input: %v", message, b, err)
		}
		if !utf8.ValidString(err.Error()) || len(err.Error()) > 400 {
			t.Errorf("%s %q: an error that no log can take: %q", message, b, err)
		}
	}
	spec, err := ParseSpec(b)
	wantSpec, wantErr := o.ParseSpec(b)
	same("ClusterSpec", spec, wantSpec, err, wantErr)
	meta, err := ParseMeta(b)
	wantMeta, wantErr := o.ParseMeta(b)
	same("BackupInfo", meta, wantMeta, err, wantErr)
	command, err := ParseCommand(b)
	wantCommand, wantErr := o.ParseCommand(b)
	same("Command", command, wantCommand, err, wantErr)
	return accepted
}

// corpus is every document of the tables above.
func corpus() []string {
	docs := []string{createdOfManager}
	for in := range specs {
		docs = append(docs, in)
	}
	for in := range metas {
		docs = append(docs, in)
	}
	for in := range commands {
		docs = append(docs, in)
	}
	for in := range refused {
		docs = append(docs, in)
	}
	slices.Sort(docs)
	return docs
}

func TestSameAsProtojsonOnTheCorpus(t *testing.T) {
	o := newOracle(t)
	for _, in := range corpus() {
		o.compare(t, []byte(in))
		// Cut anywhere, and with anything behind.
		for i := range min(len(in), 300) {
			o.compare(t, []byte(in[:i]))
			o.compare(t, []byte(in[:i]+"}"))
		}
		o.compare(t, []byte(in+" "))
		o.compare(t, []byte(in+in))
	}
	// What is nested deeply is refused before it is entered.
	for _, open := range []string{"{", "[", `{"clusterSpec":`, `{"restoreBackup":`, `{"timestamp":[`} {
		o.compare(t, []byte(strings.Repeat(open, 100_000)))
	}
}

func TestSameAsProtojsonOnMutations(t *testing.T) {
	o := newOracle(t)
	docs := corpus()
	g := generator{rand.New(rand.NewPCG(1, 2))}
	const n = 8_000
	accepted, none := 0, 0
	for range n {
		doc := g.document()
		if g.Int()%4 == 0 {
			doc = docs[g.IntN(len(docs))]
		}
		for range max(0, g.IntN(6)-2) {
			doc = g.mutate(doc)
		}
		if o.compare(t, []byte(doc)) > 0 {
			accepted++
		} else {
			none++
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	// Without enough of both it would prove little.
	t.Logf("%d mutations accepted by one message or more, %d by none", accepted, none)
	if accepted < n/5 || none < n/5 {
		t.Errorf("%d of the mutations accepted, %d refused: too one-sided", accepted, none)
	}
}

func FuzzSameAsProtojson(f *testing.F) {
	o := newOracle(f)
	for _, in := range corpus() {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o.compare(t, b)
		CreatedTimestamp(b)
		Restorable(string(b))
		if spec, err := ParseSpec(b); err == nil {
			if again, err := ParseSpec(FormatSpec(spec)); err != nil || again != spec {
				t.Errorf("%+v, formatted and parsed, is %+v, %v", spec, again, err)
			}
		}
	})
}

// A generator makes documents that are nearly right.
type generator struct{ *rand.Rand }

func (g generator) pick(of ...string) string { return of[g.IntN(len(of))] }

// rarely is the odd choice, one time in fifty.
func (g generator) rarely(usual, odd string) string {
	if g.IntN(50) == 0 {
		return odd
	}
	return usual
}

func (g generator) document() string {
	switch g.IntN(3) {
	case 0:
		return g.space() + g.spec() + g.space()
	case 1:
		return g.object(
			[2]string{g.pick("etcdVersion", "etcd_version"), g.text()},
			[2]string{"timestamp", g.number()},
			[2]string{g.pick("clusterSpec", "cluster_spec"), g.spec()})
	}
	return g.object(
		[2]string{"timestamp", g.number()},
		[2]string{g.pick("restoreBackup", "restore_backup"), g.object(
			[2]string{g.pick("clusterSpec", "cluster_spec"), g.spec()},
			[2]string{"backup", g.text()})})
}

func (g generator) spec() string {
	return g.object(
		[2]string{g.pick("memberCount", "member_count"), g.number()},
		[2]string{g.pick("etcdVersion", "etcd_version"), g.text()})
}

// object makes an object of some of the members, in any order.
func (g generator) object(members ...[2]string) string {
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	if g.IntN(4) == 0 {
		members = members[:g.IntN(len(members))]
	}
	if len(members) > 0 && g.IntN(50) == 0 {
		members = append(members, members[0])
	}
	var b strings.Builder
	b.WriteString("{" + g.space())
	for i, m := range members {
		if i > 0 {
			b.WriteString("," + g.space())
		}
		value := g.rarely(m[1], g.pick("null", "true", "false", "[]", "{}", `""`, "0", "nul", "NULL"))
		b.WriteString(`"` + g.rarely(m[0], g.pick("foo", "", "@type", "[etcd.x]", strings.ToUpper(m[0]), strings.ToLower(m[0]))) + `"`)
		b.WriteString(g.space() + ":" + g.space() + value + g.space())
	}
	return b.String() + "}"
}

func (g generator) space() string {
	return g.pick("", "", "", " ", "  ", "\n", "\r\n", "\t")
}

func (g generator) digits() string {
	return g.pick("0", "1", "3", "00", "10", "05", "2147483647", "2147483648", "9223372036854775807",
		"9223372036854775808", "1796061977", "1796062643731613748", "20", "19", "21", "100000000000000000000000",
		"99999999999", strings.Repeat("0", g.IntN(25)), fmt.Sprint(g.Uint64()>>g.IntN(64)))
}

// number makes a number, often one with a whole value in disguise.
func (g generator) number() string {
	n := g.pick("", "", "-") + g.pick("0", "1", "3", "3000", "1796061977")
	if g.IntN(4) == 0 {
		n = g.pick("", "-") + g.digits()
	}
	if g.IntN(6) == 0 {
		n += "." + g.pick("0", "000", g.digits())
	}
	if g.IntN(6) == 0 {
		n += g.pick("e", "E") + g.pick("", "+", "-") + g.pick(g.digits(), fmt.Sprint(g.IntN(24)), "")
	}
	n = g.rarely(n, g.pick("", "-", ".5", "+1", "Infinity", "NaN", "0x10", "1_000", n+n, n+".", n+"e"))
	if g.IntN(3) == 0 {
		n = `"` + g.rarely(n, g.pick(" "+n, n+" ", `\u0033`, n+`\n`, "\u00a0"+n, "null", `\"3\"`)) + `"`
	}
	return n
}

func (g generator) text() string {
	var b strings.Builder
	b.WriteByte('"')
	for range g.IntN(5) {
		b.WriteString(g.pick("3.6.11", "2026-11-30T18:06:17Z-000005", "é", "😀", "\uFFFD", "\u2028", "\x7f",
			`\"`, `\\`, `\/`, `\n`, `\u00e9`, `\u0000`, `\ud83d\ude00`, "{", "}", ",", ":", " "))
		b.WriteString(g.rarely("", g.pick("\n", "\x00", "\xff", "\xed\xa0\x80", "\xf4\x90\x80\x80", `\`, `\u`, `\u12`,
			`\ud83d`, `\ude00`, `\ud83d\u0041`, `\ud83dx`, `\ud83d\`, `\x41`, `\U00000041`, `"`)))
	}
	return b.String() + `"`
}

// mutate changes s a little: a byte lost, doubled, swapped or replaced, a stretch
// lost or doubled, a token put in.
func (g generator) mutate(s string) string {
	if s == "" {
		return g.token()
	}
	i := g.IntN(len(s))
	j := i + 1 + g.IntN(min(len(s)-i, 12))
	switch g.IntN(8) {
	case 0:
		return s[:i] + s[i+1:]
	case 1:
		return s[:j] + s[i:]
	case 2:
		return s[:i] + s[j:]
	case 3:
		return s[:i] + string(byte(g.IntN(256))) + s[i+1:]
	case 4:
		b := []byte(s)
		b[i] = byte(g.IntN(256))
		return string(b)
	case 5:
		return s[:i]
	case 6:
		return s[:i] + g.token() + s[j:]
	}
	return s[:i] + g.token() + s[i:]
}

func (g generator) token() string {
	return g.pick("{", "}", "[", "]", ",", ":", `"`, `\`, "null", "true", "0", "1", "-", "+", ".", "e", "E", " ", "\n",
		"\x00", "\xff", "\uFEFF", "//", "/*", `\u0041`, `\ud800`, `"memberCount"`, `"timestamp":1`, `"timestamp":null,`,
		`"etcdVersion":""`, g.number(), g.text())
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

func TestParseVersion(t *testing.T) {
	for in, want := range map[string]Version{
		"3.5.30":              {3, 5, 30},
		"v3.5.30":             {3, 5, 30},
		"0.0.0":               {},
		"3.6.0-rc.1":          {3, 6, 0},
		"3.6.0-alpha-1.x-y.0": {3, 6, 0},
		"3.6.0-0a":            {3, 6, 0},
		"3.6.0+git.00af":      {3, 6, 0},
		"3.6.0-rc.1+001":      {3, 6, 0},
	} {
		got, ok := ParseVersion(in)
		if !ok || got != want {
			t.Errorf("%q: %v, %t, want %v", in, got, ok, want)
		}
	}
	for _, in := range []string{
		"", "v", "3", "3.5", "3.5.", ".5.1", "3..1", "3.5.1.2", "vv3.5.1", "V3.5.1", " 3.5.1", "3.5.1 ", "03.5.1",
		"3.05.1", "3.5.01", "3.5.x", "3.5.-1", "3.5.+1", "+3.5.1", "-3.5.1", "3.5.1-", "3.5.1+", "3.5.1-a..b", "3.5.1-01",
		"3.5.1-rc_1", "3.5.1-é", "3.5.1+a+b", "3.5.1+a.", "3.5.1-18446744073709551616", "3.5.18446744073709551616", "٣.5.1", "latest",
	} {
		if got, ok := ParseVersion(in); ok {
			t.Errorf("%q: %v, want none", in, got)
		}
	}
}

func TestRestorable(t *testing.T) {
	for in, want := range map[string]string{
		"3.0.17":     "3.1.12",
		"3.1.0":      "3.1.12",
		"3.1.20":     "3.1.12",
		"3.2.18":     "3.2.18",
		"3.2.19":     "3.2.24",
		"3.3.10":     "3.3.10",
		"3.3.11":     "3.3.13",
		"3.3.13":     "3.3.13",
		"3.3.14":     "3.3.17",
		"3.4.0":      "3.4.3",
		"3.4.3":      "3.4.3",
		"3.4.4":      "3.4.13",
		"3.4.27":     "3.4.13",
		"3.5.0":      "3.5.30",
		"3.5.99":     "3.5.30",
		"v3.5.9":     "3.5.30",
		"3.6.0-rc.1": "3.6.11",
		"3.6.11":     "3.6.11",
		"3.7.0":      "3.7.0",
		"v3.7.0":     "3.7.0",
		"3.10.1-a":   "3.10.1-a",
		// The family is read with more tolerance than a version is.
		"3.5":        "3.5.30",
		" v03.4.03 ": "3.4.3",
		"3":          "3.1.12",
		"3.6.1+x":    "3.6.11",
	} {
		got, why, ok := Restorable(in)
		if !ok || got != want || why != "" {
			t.Errorf("%q: %q, %q, %t, want %q", in, got, why, ok, want)
		}
	}
	for in, want := range map[string]string{
		"2.2.1":    "this version of etcd-manager does not support etcd v2",
		"2.x":      "this version of etcd-manager does not support etcd v2",
		"v2.2.1":   `unknown etcd version "v2.2.1": etcd-manager restores etcd 3`,
		"4.0.0":    `unknown etcd version "4.0.0": etcd-manager restores etcd 3`,
		"":         "the meta file names no etcd version",
		"latest":   `"latest" is not a version: expected MAJOR.MINOR.PATCH`,
		"3.6-rc.1": `"3.6-rc.1" is not a version: expected MAJOR.MINOR.PATCH`,
		"3-rc":     `"3-rc" is not a version: expected MAJOR.MINOR.PATCH`,
		"3.7":      `unknown etcd version "3.7": expected MAJOR.MINOR.PATCH`,
		" 3.7.0":   `unknown etcd version " 3.7.0": expected MAJOR.MINOR.PATCH`,
	} {
		got, why, ok := Restorable(in)
		if ok || got != "" || why != want {
			t.Errorf("%q: %q, %q, %t, want %q", in, got, why, ok, want)
		}
	}
}
