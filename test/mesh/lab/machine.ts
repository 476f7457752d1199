// Short commands on this machine, and a clear word when a tool, a right or a part of the kernel is missing.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { onPath } from "../../../tools/support/places";
import { UserError, lastLines } from "../../../tools/support/report";

/** Debian's package for each command that the lab runs. */
const COMMANDS = { ip: "iproute2", tc: "iproute2", iptables: "iptables", etcd: "etcd-server", openssl: "openssl", tcpdump: "tcpdump", setpriv: "util-linux" } as const;
/** Folders of administrators' commands, which a user's PATH often lacks. */
const ADMIN_FOLDERS = ["/usr/sbin", "/sbin"];
const COMMAND_MS = 20_000;

/** Throws when the lab cannot run here, with all that is missing at once. */
export function checkMachine(): void {
    if (process.platform !== "linux") throw new UserError(`The lab needs Linux (network namespaces, iptables), and this is ${process.platform}. Run it in a Linux machine as root.`);
    if (process.getuid?.() !== 0) throw new UserError("The lab needs root: it makes network namespaces and iptables rules in them. Run it as root; nothing outside its own namespaces and its folder is changed.");
    const missing = Object.entries(COMMANDS).filter(([command]) => onPath(command) === undefined && !ADMIN_FOLDERS.some((folder) => existsSync(`${folder}/${command}`)));
    if (missing.length > 0) {
        throw new UserError(`The lab needs ${missing.map(([command, name]) => `${command} (Debian: ${name})`).join(", ")}. Install them, or run: npm run setup -- --system`);
    }
    const probe = spawnSync("unshare", ["--net", "true"]);
    if (probe.status !== 0) throw new UserError(`The lab cannot make a network namespace here, although it runs as root: ${String(probe.stderr).trim()}. A container needs the right CAP_SYS_ADMIN for it.`);
}

/** Runs a short command that must succeed, and returns what it prints. */
export function must(command: string, args: readonly string[], input?: string): string {
    const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8", timeout: COMMAND_MS, env: withAdminFolders(), ...(input === undefined ? {} : { input }) });
    if (status === 0) return stdout;
    throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? lastLines(stderr || stdout)}`);
}

/** The same, where a failure means that there is nothing to do. */
export function attempt(command: string, args: readonly string[]): string {
    const { status, stdout } = spawnSync(command, args, { encoding: "utf8", timeout: COMMAND_MS, env: withAdminFolders() });
    return status === 0 ? stdout : "";
}

function withAdminFolders(): NodeJS.ProcessEnv {
    return { ...process.env, PATH: [process.env["PATH"] ?? "/usr/bin:/bin", ...ADMIN_FOLDERS].join(":") };
}
