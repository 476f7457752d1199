// CEL, the language of admission policies, as text: the few idioms that the rules need. Written for Kubernetes 1.30, which has
// neither comprehensions over two variables nor lists.range.

/** A CEL expression. */
export type Cel = string;

/** A text as a CEL literal: the escapes of JSON are a part of CEL's. */
export function literal(text: string): Cel {
    return JSON.stringify(text);
}

/** The longest list whose items are judged: of longer ones the first so many. */
export const LIST_LIMIT = 128;

/** The positions of a list, which CEL cannot count by itself: `variables.positions` holds 0 to 127. The list may not use `index`. */
export function positions(list: Cel, index = "i"): Cel {
    return `variables.positions.filter(${index}, ${index} < size(${list}))`;
}

/** The texts of each place of a list, without the empty ones, as lines; `text` may use `index`. */
export function eachPlace(list: Cel, text: Cel, index = "i"): Cel {
    return `${positions(list, index)}.map(${index}, ${text}).filter(t, t != '').join('\\n')`;
}

export const POSITIONS: Cel = `[${Array.from({ length: LIST_LIMIT }, (_, index) => index).join(", ")}]`;

/** An expression with a name for a value that it uses several times. */
export function withName(name: string, value: Cel, body: Cel): Cel {
    return `[${value}].map(${name}, ${body})[0]`;
}

/** A field of a map that may lack it, or hold null as fields that are nullable may. */
export function has(map: Cel, field: string): Cel {
    return `(has(${map}.${field}) && ${map}.${field} != null)`;
}

/** The same, or else a value. */
export function orElse(map: Cel, field: string, other: Cel): Cel {
    return `(${has(map, field)} ? ${map}.${field} : ${other})`;
}

/** A host in the one spelling of the model: lower case, without the final dot. */
export function normalised(host: Cel): Cel {
    return withName("h", `${host}.lowerAscii()`, "h.endsWith('.') ? h.substring(0, size(h) - 1) : h");
}

/** The distinct items of a list, in their order. */
export function distinct(list: Cel): Cel {
    return withName("l", list, `${positions("l")}.filter(i, l.indexOf(l[i]) == i).map(i, l[i])`);
}

/** How many names messages list. */
const LISTED = 5;

/** `a`, `a and b`, `a, b and c`; long lists are cut: `listed` of the rules. */
export function listed(names: Cel): Cel {
    const upTo = (count: Cel): Cel => `variables.positions.filter(i, i < ${count}).map(i, l[i]).join(', ')`;
    return withName("l", names, `size(l) == 0 ? '' : size(l) > ${LISTED} ? ${upTo(String(LISTED))} + ' and ' + string(size(l) - ${LISTED}) + ' more' : size(l) == 1 ? l[0] : ${upTo("size(l) - 1")} + ' and ' + l[size(l) - 1]`);
}

/** Texts of several places as one list without the empty ones: none of them holds a line break. */
export function lines(texts: readonly Cel[]): Cel {
    return `[${texts.join(", ")}].filter(t, t != '').join('\\n')`;
}
