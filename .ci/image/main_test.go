package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"backstop/store/storetest"
	"backstop/store/storetest/rgwtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	rgwtest.Stop()
	os.Exit(code)
}

// Two builds, in two places, give one digest; the layout holds what was promised.
// With -short for amd64 alone.
func TestImage(t *testing.T) {
	arches := []string{"amd64", "arm64"}
	if testing.Short() {
		arches = arches[:1]
	}
	first, second := t.TempDir(), t.TempDir()
	a, err := build("../..", first, "1.2.3", arches)
	if err != nil {
		t.Fatal(err)
	}
	b, err := build(elsewhere(t), second, "1.2.3", arches)
	if err != nil {
		t.Fatal(err)
	}
	if a != b {
		t.Errorf("two builds give %s and %s", a, b)
	}
	t.Log(a)
	for _, arch := range arches {
		img := imageFor(t, filepath.Join(first, "oci"), arch)
		c, err := img.ConfigFile()
		if err != nil || c.Config.User != "65532:65532" || c.Architecture != arch {
			t.Errorf("%s: %v %+v", arch, err, c)
		}
	}
	bom, err := os.ReadFile(filepath.Join(first, "backstop-linux-amd64.cdx.json"))
	var doc bill
	if err != nil || json.Unmarshal(bom, &doc) != nil || len(doc.Components) < 20 {
		t.Errorf("bill of materials: %v, %d components", err, len(doc.Components))
	}
	t.Run("runs", func(t *testing.T) { audits(t, imageFor(t, filepath.Join(first, "oci"), "amd64")) })
}

// elsewhere is the same source at another path, which must not show.
func elsewhere(t *testing.T) string {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "src")
	if err := os.Mkdir(link, 0o755); err != nil {
		t.Fatal(err)
	}
	files, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "-z").Output()
	if err != nil {
		t.Skip("not a git repository:", err)
	}
	for _, f := range strings.Split(strings.TrimRight(string(files), "\x00"), "\x00") {
		body, err := os.ReadFile(filepath.Join(root, f))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted and not committed
		}
		if err == nil {
			to := filepath.Join(link, f)
			_ = os.MkdirAll(filepath.Dir(to), 0o755)
			err = os.WriteFile(to, body, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return link
}

func imageFor(t *testing.T, oci, arch string) v1.Image {
	t.Helper()
	index, err := layout.ImageIndexFromPath(oci)
	if err != nil {
		t.Fatal(err)
	}
	top, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	inner, err := index.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	m, err := inner.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Manifests {
		if d.Platform.Architecture == arch {
			img, err := inner.Image(d.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return img
		}
	}
	t.Fatalf("there is no image for %s", arch)
	return nil
}

// audits runs the image's entry point as its user, on a read-only root in namespaces of
// its own, against a real gateway: the audit is made, and nothing is written.
func audits(t *testing.T, img v1.Image) {
	if os.Getuid() != 0 {
		t.Skip("needs root for namespaces")
	}
	root := t.TempDir()
	unpack(t, img, root)
	gateway := rgwtest.Shared(t)
	client := gateway.Client()
	bucket := client.Bucket(t)
	files, err := storetest.Archive("healthy")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		client.Add(t, bucket, storetest.Object{Key: f.Key, Body: f.Body, Time: time.Now()})
	}
	before := client.Digest(t, bucket)
	c := exec.Command("unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "sh", "-euc",
		`mount --make-rprivate /; mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"; root=$1; shift
		exec setpriv --no-new-privs chroot --userspec=65532:65532 "$root" "$@"`,
		"-", root, "/backstop", "audit", "s3://"+bucket, "--endpoint-url", gateway.Endpoint, "--force-path-style")
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "AWS_ACCESS_KEY_ID=" + gateway.AccessKey, "AWS_SECRET_ACCESS_KEY=" + gateway.SecretKey, "AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true"}
	said, err := c.CombinedOutput()
	if !strings.Contains(string(said), "checked 1 of 1 store") {
		t.Errorf("audit in the image: %v\n%s", err, said)
	}
	if after := client.Digest(t, bucket); after != before {
		t.Error("the audit has changed the bucket")
	}
}

func unpack(t *testing.T, img v1.Image, to string) {
	t.Helper()
	r := mutate.Extract(img)
	defer func() { _ = r.Close() }()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(to, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(name, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(name), 0o755); err == nil {
			var body []byte
			if body, err = io.ReadAll(tr); err == nil {
				err = os.WriteFile(name, body, os.FileMode(h.Mode))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
