// Command pulumi-resource-kubernetes serves Pulumi's Kubernetes provider from the registry module, for machines
// that cannot reach the vendor's downloads. The version is stamped by the linker (tools/setup).
package main

import (
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

func main() {
	provider.Serve("kubernetes", version.Version, []byte(`{"name":"kubernetes"}`), []byte("{}"))
}
