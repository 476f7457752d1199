// Why a request to the API server failed, in words: from the errors of sockets, TLS and HTTP that the client passes on.
import { messageOf } from "../failure";
import { isMap } from "../plain";

export interface Cause {
    /** What happened: `the connection was refused`. */
    readonly text: string;
    /** What to do about it. */
    readonly fix: string;
}

/** Thrown where a call took too long. */
export class TimeOut extends Error {
    override readonly name = "TimeOut";
}

/** Thrown where something answers, but not an API server: a proxy, or a page to log in. */
export class NotKubernetes extends Error {
    override readonly name = "NotKubernetes";
}

const START = "Start the cluster, or choose another context (--context).";
const NETWORK = "Check the network, a VPN or proxy (HTTPS_PROXY, NO_PROXY), and the server's address in the kubeconfig.";
const TRUST = "Correct certificate-authority-data of the cluster in the kubeconfig: get the kubeconfig anew from where the cluster is managed.";

const SOCKET_CAUSES: Readonly<Record<string, Cause>> = {
    ECONNREFUSED: { text: "the connection was refused: nothing listens at this address", fix: START },
    ECONNRESET: { text: "the connection was cut", fix: NETWORK },
    ENOTFOUND: { text: "the server's name is not known to DNS", fix: NETWORK },
    EAI_AGAIN: { text: "DNS did not answer for the server's name", fix: NETWORK },
    EHOSTUNREACH: { text: "no route leads to the server", fix: NETWORK },
    ENETUNREACH: { text: "no route leads to the server", fix: NETWORK },
    ETIMEDOUT: { text: "the server did not answer", fix: NETWORK },
    DEPTH_ZERO_SELF_SIGNED_CERT: { text: "TLS failed: the server's certificate is its own and not trusted", fix: TRUST },
    SELF_SIGNED_CERT_IN_CHAIN: { text: "TLS failed: the server's certificate is signed by an authority that is not trusted", fix: TRUST },
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: { text: "TLS failed: the server's certificate is signed by an authority that is not trusted", fix: TRUST },
    UNABLE_TO_GET_ISSUER_CERT: { text: "TLS failed: the server's certificate is signed by an authority that is not trusted", fix: TRUST },
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: { text: "TLS failed: the server's certificate is signed by an authority that is not trusted", fix: TRUST },
    CERT_SIGNATURE_FAILURE: { text: "TLS failed: the server's certificate does not fit the trusted authority", fix: TRUST },
    CERT_HAS_EXPIRED: { text: "TLS failed: the server's certificate has expired", fix: "Renew the server's certificate, or check this machine's clock." },
    CERT_NOT_YET_VALID: { text: "TLS failed: the server's certificate is not valid yet", fix: "Check this machine's clock." },
    ERR_TLS_CERT_ALTNAME_INVALID: { text: "TLS failed: the server's certificate is for another name", fix: "Correct the cluster's server, or tls-server-name, in the kubeconfig." },
};

/** The cause of anything that the client throws. */
export function causeOf(thrown: unknown): Cause {
    if (thrown instanceof TimeOut || (thrown instanceof Error && thrown.name === "AbortError")) return { text: "there was no answer in time", fix: NETWORK };
    const status = statusOf(thrown);
    if (status !== undefined) return statusCause(status, bodyMessage(thrown));
    const code = codeOf(thrown), known = code === undefined ? undefined : SOCKET_CAUSES[code];
    if (known !== undefined) return known;
    if (code === "EPROTO" || code?.startsWith("ERR_SSL_") === true) return { text: "TLS failed: the server does not speak it, or the client certificate was refused", fix: "Check the server's address (https or http, port) and the user's certificate in the kubeconfig." };
    if (code === "ENOENT") return { text: `the command or file for the credentials is not there (${firstLine(thrown)})`, fix: "Install the command that users[].user.exec names in the kubeconfig, or correct the path." };
    if (thrown instanceof NotKubernetes || thrown instanceof SyntaxError) return { text: "the answer is not that of a Kubernetes API server", fix: "Check the server's address in the kubeconfig: a proxy or a login page may answer there." };
    return { text: firstLine(thrown), fix: "Check that kubectl works with the same context." };
}

/** The HTTP status of a refusal, where it is one. */
export function statusOf(thrown: unknown): number | undefined {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    return typeof code === "number" ? code : undefined;
}

function statusCause(status: number, message: string): Cause {
    if (status === 401) return { text: "the credentials were not accepted (401)", fix: "Log in again, or correct the user in the kubeconfig." };
    if (status === 403) return { text: `the request was refused (403${message})`, fix: message.includes("system:anonymous") ? "The user in the kubeconfig has no credentials: log in, or add them." : "Ask whoever manages the cluster for access." };
    if (status === 404) return { text: "the answer is not that of a Kubernetes API server (404)", fix: "Check the server's address in the kubeconfig." };
    if (status === 429) return { text: "the API server is overloaded (429)", fix: "Run the preflight again." };
    return { text: `the API server answered ${status}${message === "" ? "" : ` (${message.replace(/^: /, "")})`}`, fix: "Look at the API server's own state (kubectl get --raw /readyz?verbose)." };
}

/** The API server's own words, `: …`, or nothing. */
function bodyMessage(thrown: unknown): string {
    let body: unknown = thrown instanceof Error && "body" in thrown ? thrown.body : undefined;
    if (typeof body === "string") {
        try {
            body = JSON.parse(body);
        } catch {
            return "";
        }
    }
    return isMap(body) && typeof body["message"] === "string" ? `: ${body["message"]}` : "";
}

/** The code of a system error, also of one that is the reason for another. */
function codeOf(thrown: unknown): string | undefined {
    if (!(thrown instanceof Error)) return undefined;
    if ("code" in thrown && typeof thrown.code === "string") return thrown.code;
    return thrown.cause === undefined ? undefined : codeOf(thrown.cause);
}

function firstLine(thrown: unknown): string {
    return (messageOf(thrown).split("\n")[0] ?? "").trim();
}
