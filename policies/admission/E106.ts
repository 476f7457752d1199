// E106 at admission: an entry of portLevelSettings that drops the outlier detection, or the connection pool, of the policy around it.
import { BLOCKS, portSettingsDropOutlier } from "../rules/E106-port-settings-drop-outlier";
import { type Cel, eachPlace, listed, literal, withName } from "./cel";
import { EXAMPLE_BLOCK, OUTLIER_VARIABLES } from "./outlier";
import type { AdmissionRule } from "./rule";
import { findingText } from "./template";

const ENTRY = `${EXAMPLE_BLOCK.replace("outlierDetection", "portLevelSettings")}[0]`, PORT = 4711;

/** The text where an entry lacks these blocks of the policy around it. */
function text(lost: readonly string[]): Cel {
    const rest = BLOCKS.filter((block) => !lost.includes(block)), blocks = (names: readonly string[]): object => Object.fromEntries(names.map((name) => [name, {}]));
    const example = {
        apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name: "example", namespace: "example" },
        spec: { host: "example.invalid", trafficPolicy: { ...blocks(lost), portLevelSettings: [{ port: { number: PORT }, ...blocks(rest) }] } },
    };
    return findingText(portSettingsDropOutlier, example, {
        [ENTRY]: "p.path + '.portLevelSettings[' + string(i) + ']'", [`port ${PORT}`]: "(has(e.port) && has(e.port.number) ? 'port ' + string(e.port.number) : 'this port')",
        ...(lost.length === 1 ? {} : { [lost.join(" and ")]: listed("lost") }),
    });
}

/** Of a subset's entry the rule's own policy would count too: its entry for the same port, or else all of it. */
const OUTER = "variables.outer.?portLevelSettings.orValue([]).filter(x, has(e.port) && has(e.port.number) && has(x.port) && has(x.port.number) && x.port.number == e.port.number)";
const LOST = `[${BLOCKS.map(literal).join(", ")}].filter(k, !(k in e) && (k in p.policy || (p.path != 'spec.trafficPolicy' && k in o)))`;

function findings(judge: Cel): Cel {
    const entry = withName("e", "p.policy.portLevelSettings[i]", withName("o", `size(${OUTER}) > 0 ? dyn(${OUTER}[0]) : dyn(variables.outer)`, withName("lost", LOST, judge)));
    return `variables.policies.map(p, ${eachPlace("p.policy.?portLevelSettings.orValue([])", entry)}).filter(t, t != '').join('\\n')`;
}

export const portSettingsDropOutlierAdmission: AdmissionRule = {
    rule: portSettingsDropOutlier,
    variables: [...OUTLIER_VARIABLES, ["outer", "object.spec.?trafficPolicy.orValue({})"]],
    findings: {
        own: findings(`'outlierDetection' in lost ? (size(lost) == 1 ? ${text(["outlierDetection"])} : ${text(["outlierDetection", "connectionPool"])}) : ''`),
        advisory: findings(`!('outlierDetection' in lost) && 'connectionPool' in lost ? (size(lost) == 1 ? ${text(["connectionPool"])} : ${text(["connectionPool", "loadBalancer"])}) : ''`),
    },
};
