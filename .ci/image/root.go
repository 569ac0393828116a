package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nobody is the user that the image runs as: no root, and no user of a machine.
const nobody = 65532

// epoch is the time of all files: the content alone makes the digest.
var epoch = time.Unix(0, 0).UTC()

// imageOf puts an image together.
func imageOf(binary string, bill []byte, version, arch string) (v1.Image, error) {
	root, err := rootOf(binary, bill)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(root)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if img, err = mutate.Append(img, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "backstop .ci/image"}}); err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, &v1.ConfigFile{
		OS: "linux", Architecture: arch, Created: v1.Time{Time: epoch},
		RootFS: must(img.ConfigFile()).RootFS, History: must(img.ConfigFile()).History,
		Config: v1.Config{
			User: fmt.Sprintf("%d:%d", nobody, nobody), Entrypoint: []string{"/backstop"}, WorkingDir: "/",
			Env: []string{"PATH=/", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
			Labels: map[string]string{
				"org.opencontainers.image.title":       "backstop",
				"org.opencontainers.image.description": "audits etcd-manager backup stores; it only reads",
				"org.opencontainers.image.licenses":    "Apache-2.0",
				"org.opencontainers.image.version":     version,
			},
		},
	})
}

// must is for what cannot fail: an image that is made in memory.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// rootOf is the root file system as a tar.
func rootOf(binary string, bill []byte) ([]byte, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		"etc/passwd":                          fmt.Appendf(nil, "nobody:x:%d:%d::/:/\n", nobody, nobody),
		"etc/group":                           fmt.Appendf(nil, "nobody:x:%d:\n", nobody),
		"etc/ssl/certs/ca-certificates.crt":   certificates(),
		"usr/share/doc/backstop/bom.cdx.json": bill,
		"backstop":                            program,
	}
	if err := zones(files); err != nil {
		return nil, err
	}
	// Empty, for what is mounted: a root that is read-only cannot get them later.
	dirs := []string{"dev/", "proc/", "tmp/", "etc/backstop/", "var/lib/backstop/"}
	return archive(files, dirs)
}

// certificates are the authorities that Mozilla trusts without a condition, as the Go
// project publishes them.
func certificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes everything
		}
	}
	return b.Bytes()
}

// zones adds the time zones that come with Go.
func zones(files map[string][]byte) error {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	z, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return fmt.Errorf("time zones: %w", err)
	}
	defer func() { _ = z.Close() }()
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return fmt.Errorf("time zone %s: %w", f.Name, err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("time zone %s: %w", f.Name, err)
		}
		files["usr/share/zoneinfo/"+f.Name] = body
	}
	return nil
}

// archive writes a tar in the order of names. /tmp and the state's directory are
// nobody's own; all else is root's, and read-only to others.
func archive(files map[string][]byte, dirs []string) ([]byte, error) {
	all := map[string]bool{}
	add := func(name string) {
		for d := path.Dir(name); d != "."; d = path.Dir(d) {
			all[d+"/"] = true
		}
		all[name] = true
	}
	for name := range files {
		add(name)
	}
	for _, d := range dirs {
		add(strings.TrimSuffix(d, "/"))
		delete(all, strings.TrimSuffix(d, "/"))
		all[d] = true
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		h := &tar.Header{Name: name, ModTime: epoch, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(files[name])), Format: tar.FormatPAX}
		switch {
		case strings.HasSuffix(name, "/"):
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
		case name == "backstop":
			h.Mode = 0o755
		}
		if name == "tmp/" || name == "var/lib/backstop/" {
			h.Uid, h.Gid = nobody, nobody
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
