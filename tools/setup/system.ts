// Names the system packages that are missing, and installs them when asked to, as root, on Debian and its kin.
import { existsSync } from "node:fs";
import { onPath } from "../support/places";
import { run } from "../support/process";
import { UserError, duration, lastLines, say } from "../support/report";

interface SystemPackage { readonly command: string; readonly name: string; readonly use: string }

const packages: readonly SystemPackage[] = [
    { command: "etcd", name: "etcd-server", use: "store of the API server (npm run test:engine)" },
    { command: "ip", name: "iproute2", use: "network namespaces of the mesh tests" },
    { command: "iptables", name: "iptables", use: "interception and faults in the mesh tests" },
    { command: "openssl", name: "openssl", use: "certificates of the mesh tests' servers" },
    { command: "tcpdump", name: "tcpdump", use: "what is on the wire in the mesh tests" },
    { command: "setpriv", name: "util-linux", use: "proxies of the mesh tests under their own user" },
];
/** Folders of administrators' commands, which a user's PATH often lacks. */
const ADMIN_FOLDERS = ["/usr/sbin", "/sbin"];

export async function systemPackages(installThem: boolean): Promise<void> {
    const missing = packages.filter(({ command }) => onPath(command) === undefined && !ADMIN_FOLDERS.some((folder) => existsSync(`${folder}/${command}`)));
    if (missing.length === 0) return say("System packages: all there");
    const names = missing.map(({ name }) => name);
    if (!installThem) {
        say(`System packages missing: ${missing.map(({ name, use }) => `${name} (${use})`).join(", ")}.`);
        return say("  Install them, or on Debian and Ubuntu as root: npm run setup -- --system");
    }
    if (onPath("apt-get") === undefined) throw new UserError(`setup: --system knows Debian's apt-get only, which is not here. Install with your system's means: ${names.join(", ")}.`);
    if (process.getuid?.() !== 0) throw new UserError(`setup: --system installs ${names.join(", ")} and so needs root. Run it with sudo, or install them yourself.`);
    const begin = Date.now();
    // RUNLEVEL=1 keeps the packages' services from being started: the tests start their own.
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
    for (const args of [["update", "--quiet"], ["install", "--quiet", "--yes", "--no-install-recommends", ...names]]) {
        const result = await run("apt-get", args, { env });
        if (result.code !== 0) throw new UserError(`setup: apt-get ${args[0] ?? ""} failed; its last lines:\n${lastLines(result.stderr || result.stdout)}`);
    }
    say(`System packages: installed ${names.join(", ")} (${duration(Date.now() - begin)})`);
}
