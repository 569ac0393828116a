package storetest

import (
	"bytes"
	"errors"
	"testing"

	"backstop/store"
)

// testParts holds that a part of an object is what was asked for, and no more.
func testParts(t *testing.T, be Backend, b store.Bucket) {
	n := int64(len(bigBody))
	for in, want := range map[store.PartInput][]byte{
		{From: 0, Length: 10}:      bigBody[:10],
		{From: 7, Length: 1}:       bigBody[7:8],
		{From: n - 3, Length: 100}: bigBody[n-3:],
		{From: 0, Length: n}:       bigBody,
		{From: 0, Length: n + 1}:   bigBody,
		{From: -8}:                 bigBody[n-8:],
		{From: -n - 5}:             bigBody,
	} {
		in.Key = "a/big"
		got, err := b.Part(t.Context(), in)
		if err != nil || !bytes.Equal(got.Body, want) {
			t.Errorf("%+v: got %d bytes, %v, want %d", in, len(got.Body), err, len(want))
		}
		if err == nil && (got.Key != "a/big" || got.Size != n || got.LastModified.IsZero()) {
			t.Errorf("%+v: it is %+v", in, got.Object)
		}
	}
	if be.Remote {
		before := b.Usage()
		if _, err := b.Part(t.Context(), store.PartInput{Key: "a/big", Length: 10}); err != nil {
			t.Error(err)
		}
		if after := b.Usage(); total(after)-total(before) != 1 || after.Bytes-before.Bytes > 1<<16 {
			t.Errorf("ten bytes cost %d requests and %d bytes", total(after)-total(before), after.Bytes-before.Bytes)
		}
		whole, err := b.Part(t.Context(), store.PartInput{Key: "a/big", Length: 1})
		if err != nil || whole.ETag == "" {
			t.Fatalf("got %+v, %v", whole, err)
		}
		if got, err := b.Part(t.Context(), store.PartInput{Key: "a/big", From: -3, ETag: whole.ETag}); err != nil || string(got.Body) != "def" {
			t.Errorf("with its own ETag: got %q, %v", got.Body, err)
		}
		if _, err := b.Part(t.Context(), store.PartInput{Key: "a/big", From: -3, ETag: "0123456789abcdef0123456789abcdef"}); err == nil {
			t.Error("another ETag is taken")
		}
	}
	_, err := b.Part(t.Context(), store.PartInput{Key: "a/none", Length: 1})
	if !errors.Is(err, store.ErrMissing) {
		t.Errorf("what does not exist: got %v, want ErrMissing", err)
	}
	wantError(t, err)
}
