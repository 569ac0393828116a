// Command image makes backstop's container image as an OCI layout, without a container
// engine: the static binary on an empty root, with CA certificates, time zones and a
// bill of materials, for amd64 and arm64. The same source and Go make the same digest:
// nothing of the machine goes into it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func main() {
	version := flag.String("version", "", "of backstop")
	source := flag.String("source", "../..", "`directory` of backstop's module")
	out := flag.String("out", "../../bin/image", "`directory` to write to")
	arches := flag.String("arch", "amd64,arm64", "architectures, separated by commas")
	flag.Parse()
	digest, err := build(*source, *out, *version, strings.Split(*arches, ","))
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
	fmt.Println(digest)
}

// build writes DIR/oci, an OCI layout, and beside it each binary and its bill of
// materials. It gives the digest of the image.
func build(source, dir, version string, arches []string) (v1.Hash, error) {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range arches {
		binary := filepath.Join(dir, "backstop-linux-"+arch)
		if err := compile(source, binary, version, arch); err != nil {
			return v1.Hash{}, err
		}
		bill, err := billOf(binary, version)
		if err != nil {
			return v1.Hash{}, err
		}
		if err := os.WriteFile(binary+".cdx.json", bill, 0o644); err != nil {
			return v1.Hash{}, err
		}
		img, err := imageOf(binary, bill, version, arch)
		if err != nil {
			return v1.Hash{}, fmt.Errorf("image for %s: %w", arch, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        img,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
	}
	oci := filepath.Join(dir, "oci")
	if err := os.RemoveAll(oci); err != nil {
		return v1.Hash{}, err
	}
	path, err := layout.Write(oci, empty.Index)
	if err != nil {
		return v1.Hash{}, err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "latest"})); err != nil {
		return v1.Hash{}, err
	}
	return index.Digest()
}
