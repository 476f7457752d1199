// The rules of the pack, by code.
import type { Rule } from "../rule";
import { ejectionNever } from "./E101-ejection-never";
import { ejectionEmptiesPool } from "./E102-ejection-empties-pool";
import { ejectionGuardMissing } from "./E105-ejection-guard-missing";
import { noWayBackForEjected } from "./E112-no-way-back-for-ejected";
import { logicalDnsOnSmallPool } from "./E201-logical-dns-on-small-pool";
import { poolUndeclared } from "./E207-pool-undeclared";
import { sharedMutualServer } from "./E410-shared-mutual-server";

const ALL: readonly Rule[] = [
    ejectionNever,
    ejectionEmptiesPool,
    ejectionGuardMissing,
    noWayBackForEjected,
    logicalDnsOnSmallPool,
    poolUndeclared,
    sharedMutualServer,
];

export const RULES: readonly Rule[] = ALL.map((rule) => ({ ...rule, page: `docs/rules/${rule.code}.md` }));
