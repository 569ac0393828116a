package etcdmanager

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

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
