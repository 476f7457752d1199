// Exemptions in CEL: `until YYYY-MM-DD: reason`, read as the rules read it, and the day by which expiry is judged.
import { EXEMPTION_PREFIX } from "../../model";
import { type Cel, literal } from "./cel";

/**
 * Admission has no clock. A new object carries the moment of its creation when policies see it, and a changed one that of
 * the newest entry of its managed fields, which is this change unless it changes nothing that anybody manages.
 */
export const TODAY: Cel = "([string(object.metadata.?creationTimestamp.orValue(''))] + object.metadata.?managedFields.orValue([]).map(m, string(m.?time.orValue('')))).max()";

const FORM = "^\\\\s*until\\\\s+[0-9]{4}-[0-9]{2}-[0-9]{2}\\\\s*:\\\\s*\\\\S";

/** Whether the object is exempt from a rule: `readExemption` of the rules. */
export function isExempt(code: string): readonly (readonly [string, Cel])[] {
    const key = literal(EXEMPTION_PREFIX + code);
    return [
        ["exemption", `${key} in object.metadata.?annotations.orValue({}) ? object.metadata.annotations[${key}] : ''`],
        ["until", `variables.exemption.matches("${FORM}") ? variables.exemption.find('[0-9]{4}-[0-9]{2}-[0-9]{2}') : ''`],
        ["today", TODAY],
        ["isExempt", `variables.until != '' && ${isDay("variables.until")} && variables.until >= variables.today.substring(0, 10)`],
    ];
}

/** `isDay` of the rules, without a conversion that fails for what is no day. */
export function isDay(text: Cel): Cel {
    const part = (from: number, to: number): Cel => `int(${text}.substring(${from}, ${to}))`, year = part(0, 4), month = part(5, 7), day = part(8, 10);
    const leap = `(${year} % 4 == 0 && (${year} % 100 != 0 || ${year} % 400 == 0))`;
    return `(${day} >= 1 && (${month} in [1, 3, 5, 7, 8, 10, 12] ? ${day} <= 31 : ${month} in [4, 6, 9, 11] ? ${day} <= 30 : ${month} == 2 ? ${day} <= (${leap} ? 29 : 28) : false))`;
}
