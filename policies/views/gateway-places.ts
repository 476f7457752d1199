// Where the pods of a gateway run: its hops lead to their Service, and Services say by their selectors whom they stand before.
import type { Mesh } from "../mesh";
import { UNKNOWN } from "../plain";
import { serversOfGateway, servicesOf } from "./gateways";
import { type Leg, hopsOf } from "./routes";

/** The namespaces of the gateways that a leg is bound to; none where nothing at hand tells them. */
export function gatewayNamespaces(mesh: Mesh, leg: Leg): readonly string[] {
    const byHop = leg.hosts.flatMap(({ name }) => hopsOf(mesh, name).map(({ gatewayNamespace }) => gatewayNamespace));
    if (byHop.length > 0) return [...new Set(byHop)];
    const byService = leg.gateways.flatMap((gateway) => serversOfGateway(mesh, gateway)).flatMap((server) => servicesOf(mesh, server)).map(({ namespace }) => namespace);
    return [...new Set(byService.filter((namespace) => namespace !== UNKNOWN))];
}
