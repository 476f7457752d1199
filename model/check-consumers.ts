// Who may use a host, against the gateway's mode and its lockdown.
import { ALL_CONSUMERS, type Declaration, GatewayConsumers, LABEL_PATTERN, Lockdown } from "./declaration";
import { type Path, type Problems, show } from "./problem";
import { isMutualToGateway, usesGateway } from "./routes";

/** A ServiceAccount's name is a DNS subdomain (RFC 1123). */
const ACCOUNT = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export function checkConsumers(problems: Problems, declaration: Declaration): void {
    const { route, gateway, consumers } = declaration;
    const seen = new Map<string, number>();
    consumers.forEach(({ namespace }, index) => {
        checkServiceAccounts(problems, declaration, index);
        const path: Path = ["consumers", index, "namespace"];
        const first = seen.get(namespace);
        if (first === undefined) seen.set(namespace, index);
        else problems.add(path, `is ${show(namespace)}, which consumers[${first}] names already: remove one of them.`, [["consumers", first, "namespace"]]);
        const reads: Path[] = [["route"], ["gateway"]];
        if (namespace === ALL_CONSUMERS) {
            if (consumers.length > 1) problems.add(path, 'is "*", beside other consumers: "*" is all of them, leave the others out.', [["consumers"]]);
            if (usesGateway(route) && gateway !== undefined && gateway.consumers !== GatewayConsumers.All) {
                problems.add(path, 'is "*", but the gateway serves declared consumers: name the namespaces, or make the whole gateway one for all (gateway.consumers: all).', reads);
            }
            return;
        }
        if (!LABEL_PATTERN.test(namespace)) problems.add(path, `is ${show(namespace)}, which is not a namespace's name (RFC 1123 label): check the name.`);
        if (!usesGateway(route) || gateway === undefined) return;
        if (gateway.consumers === GatewayConsumers.All) {
            problems.add(path, `is ${show(namespace)}, but the gateway serves all consumers: write "*". The two modes hide each other's subsets when mixed.`, reads);
        } else if (namespace === gateway.namespace) {
            problems.add(path, `is ${show(namespace)}, the gateway's own namespace: the gateway would see the client's view of the host (resolution NONE) and have no endpoints; run the application in another namespace.`, reads);
        }
    });
}

/** A list of accounts that nothing enforces would be a silent promise. */
function checkServiceAccounts(problems: Problems, { route, gateway, consumers }: Declaration, index: number): void {
    const accounts = consumers[index]?.serviceAccounts, namespace = consumers[index]?.namespace ?? "";
    if (accounts === undefined) return;
    const path: Path = ["consumers", index, "serviceAccounts"], reads: Path[] = [["route"], ["gateway"], ["consumers", index]];
    if (!usesGateway(route)) problems.add(path, "is not enforced with route direct, on which no gateway sees who the client is: remove it, or choose route mtls-passthrough with a locked gateway.", reads);
    else if (!isMutualToGateway(route)) problems.add(path, `is not enforced with route ${route}, on which the gateway does not know who the client is: remove it, or choose route mtls-passthrough.`, reads);
    else if (gateway !== undefined && gateway.lockdown === Lockdown.Off) problems.add(path, "is not enforced while the gateway's lockdown is off, when whoever reaches it may use every host: lock the gateway (EgressLockdown, dry-run first), or remove it.", reads);
    else if (namespace === ALL_CONSUMERS) problems.add(path, 'is beside the namespace "*", and a service account is one of a namespace: name the namespaces.', reads);
    accounts.forEach((account, at) => {
        const first = accounts.indexOf(account);
        if (!ACCOUNT.test(account)) problems.add([...path, at], `is ${show(account)}, which is not the name of a ServiceAccount (RFC 1123): check the name.`);
        else if (first !== at) problems.add([...path, at], `is ${show(account)}, which it names already: remove one of them.`, [path]);
    });
}
