// Every outlierDetection of a DestinationRule in CEL: the same places, in the same order, as `outlierBlocks` of the rules.
import { type Cel, has, normalised, orElse, positions } from "./cel";
import { POOL_VARIABLES, speaksOf } from "./pool";

export const OUTLIER_VARIABLES: readonly (readonly [string, Cel])[] = [
    ...POOL_VARIABLES,
    ["host", normalised("object.spec.?host.orValue('')")],
    ["knowsPool", `variables.isDeclared && ${speaksOf("variables.host")}`],
    ["subsets", "object.spec.?subsets.orValue([])"],
    ["policies", `[{'path': dyn('spec.trafficPolicy'), 'policy': dyn(object.spec.?trafficPolicy.orValue({})), 'whole': dyn(true)}] + ${positions("variables.subsets")}.map(i, `
        + "{'path': dyn('spec.subsets[' + string(i) + '].trafficPolicy'), 'policy': dyn(variables.subsets[i].?trafficPolicy.orValue({})), 'whole': dyn(size(variables.subsets[i].?labels.orValue({})) == 0)})"],
];

/** A block in the expressions below: `b.path`, the map `b.at`, and whether it acts on the whole pool, `b.whole`. */
export const BLOCK = "b";

/** The findings of the blocks that eject: `judge` gives the text of one, or an empty one. */
export function eachBlock(judge: Cel): Cel {
    return everyBlock(`${IS_OFF} ? '' : ${judge}`);
}

/** The same for every block, those that eject nothing by intent included. */
export function everyBlock(judge: Cel): Cel {
    const block = (path: Cel, at: Cel): Cel => `[{'path': dyn(${path}), 'at': dyn(${at}), 'whole': p.whole}].map(${BLOCK}, ${judge})[0]`;
    const own = `(has(p.policy.outlierDetection) ? ${block("p.path + '.outlierDetection'", "p.policy.outlierDetection")} : '')`;
    const ports = `p.policy.?portLevelSettings.orValue([])`;
    const perPort = `${positions(ports)}.map(i, has(p.policy.portLevelSettings[i].outlierDetection) ? ${block("p.path + '.portLevelSettings[' + string(i) + '].outlierDetection'", "p.policy.portLevelSettings[i].outlierDetection")} : '')`;
    return `variables.policies.map(p, ([${own}] + ${perPort}).filter(t, t != '').join('\\n')).filter(t, t != '').join('\\n')`;
}

/** `isEjectionOff` of the model. */
const IS_OFF: Cel = `(!${orElse("b.at", "splitExternalLocalOriginErrors", "false")} && ${orElse("b.at", "consecutive5xxErrors", "-1")} == 0 && ${orElse("b.at", "consecutiveGatewayErrors", "0")} == 0)`;

export const PERCENT = { isSet: has("b.at", "maxEjectionPercent"), value: "b.at.maxEjectionPercent", path: "b.path + '.maxEjectionPercent'" } as const;
export const HEALTH = { isSet: has("b.at", "minHealthPercent"), value: "b.at.minHealthPercent", path: "b.path + '.minHealthPercent'" } as const;

/** Panic routing is off: minHealthPercent is unset, or not above 0. */
export const PANIC_OFF: Cel = `(!${HEALTH.isSet} || ${HEALTH.value} <= 0)`;

/** Envoy's percent: `effectivePercent` of the model. */
export function effective(defaultPercent: number): Cel {
    return `(!${PERCENT.isSet} || ${PERCENT.value} <= 0 ? ${defaultPercent} : ${PERCENT.value} > 100 ? 100 : ${PERCENT.value})`;
}

/** A DestinationRule whose one block of outlierDetection is this, for the texts of findings. */
export function exampleOf(outlierDetection: object, annotations: Readonly<Record<string, string>> = {}): object {
    return {
        apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name: "example", namespace: "example", annotations },
        spec: { host: EXAMPLE_HOST, trafficPolicy: { outlierDetection } },
    };
}

export const EXAMPLE_HOST = "pool.example.invalid";
export const EXAMPLE_BLOCK = "spec.trafficPolicy.outlierDetection";
