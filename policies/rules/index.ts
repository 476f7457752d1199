// The rules of the pack, by code.
import type { Rule } from "../rule";
import { ejectionNever } from "./E101-ejection-never";
import { ejectionEmptiesPool } from "./E102-ejection-empties-pool";
import { outlierOnSingleAddress } from "./E103-outlier-on-single-address";
import { httpThresholdsOnL4 } from "./E104-http-thresholds-on-l4";
import { ejectionGuardMissing } from "./E105-ejection-guard-missing";
import { portSettingsDropOutlier } from "./E106-port-settings-drop-outlier";
import { localFailuresWithoutSplit } from "./E107-local-failures-without-split";
import { hopWithoutOutlier } from "./E108-hop-without-outlier";
import { ejectionStateLost } from "./E109-ejection-state-lost";
import { retryWithoutOutlier } from "./E110-retry-without-outlier";
import { leastRequestSmallPool } from "./E111-least-request-small-pool";
import { noWayBackForEjected } from "./E112-no-way-back-for-ejected";
import { standbyWithoutPriority } from "./E113-standby-without-priority";
import { ejectionUndoneByPanic } from "./E114-ejection-undone-by-panic";
import { logicalDnsOnSmallPool } from "./E201-logical-dns-on-small-pool";
import { strictDnsOnRotatingPool } from "./E202-strict-dns-on-rotating-pool";
import { noneBehindGateway } from "./E203-none-behind-gateway";
import { wildcardBehindGateway } from "./E204-wildcard-behind-gateway";
import { endpointsUnderRoundRobin } from "./E205-endpoints-under-round-robin";
import { dynamicDnsMisused } from "./E206-dynamic-dns-misused";
import { poolUndeclared } from "./E207-pool-undeclared";
import { hostSpelledDifferently } from "./E208-host-spelled-differently";
import { hostTwice } from "./E301-host-twice";
import { protocolsDiffer } from "./E302-protocols-differ";
import { tcpWithoutAddresses } from "./E303-tcp-without-addresses";
import { sniTwice } from "./E304-sni-twice";
import { tlsAndPlaintext } from "./E305-tls-and-plaintext";
import { hostsWithTcp } from "./E306-hosts-with-tcp";
import { passthroughOverTerminated } from "./E307-passthrough-over-terminated";
import { exportUnseen } from "./E401-export-unseen";
import { sniOutsideHosts } from "./E402-sni-outside-hosts";
import { routeIntoNothing } from "./E403-route-into-nothing";
import { mutualWithoutSni } from "./E404-mutual-without-sni";
import { routeOfWrongKind } from "./E405-route-of-wrong-kind";
import { originationUnverified } from "./E406-origination-unverified";
import { connectTimeout } from "./E407-connect-timeout";
import { portNotOnService } from "./E408-port-not-on-service";
import { subsetRuleHidden } from "./E409-subset-rule-hidden";
import { sharedMutualServer } from "./E410-shared-mutual-server";
import { hostNotAllowed } from "./E501-host-not-allowed";
import { refusedEgressTarget } from "./E502-refused-target";
import { ownershipMissing } from "./E503-ownership-missing";
import { expired } from "./E504-expired";
import { routeNotEnforced } from "./E505-route-not-enforced";
import { exemptionInvalid } from "./E506-exemption-invalid";
import { forcedOverwrite } from "./E601-forced-overwrite";
import { outdatedApiVersion } from "./E602-outdated-api-version";
import { filterWithoutHost } from "./E603-filter-without-host";

const ALL: readonly Rule[] = [
    ejectionNever,
    ejectionEmptiesPool,
    outlierOnSingleAddress,
    httpThresholdsOnL4,
    ejectionGuardMissing,
    portSettingsDropOutlier,
    localFailuresWithoutSplit,
    hopWithoutOutlier,
    ejectionStateLost,
    retryWithoutOutlier,
    leastRequestSmallPool,
    noWayBackForEjected,
    standbyWithoutPriority,
    ejectionUndoneByPanic,
    logicalDnsOnSmallPool,
    strictDnsOnRotatingPool,
    noneBehindGateway,
    wildcardBehindGateway,
    endpointsUnderRoundRobin,
    dynamicDnsMisused,
    poolUndeclared,
    hostSpelledDifferently,
    hostTwice,
    protocolsDiffer,
    tcpWithoutAddresses,
    sniTwice,
    tlsAndPlaintext,
    hostsWithTcp,
    passthroughOverTerminated,
    exportUnseen,
    sniOutsideHosts,
    routeIntoNothing,
    mutualWithoutSni,
    routeOfWrongKind,
    originationUnverified,
    connectTimeout,
    portNotOnService,
    subsetRuleHidden,
    sharedMutualServer,
    hostNotAllowed,
    refusedEgressTarget,
    ownershipMissing,
    expired,
    routeNotEnforced,
    exemptionInvalid,
    forcedOverwrite,
    outdatedApiVersion,
    filterWithoutHost,
];

/** A message ends with where its rule is explained. */
export const RULES: readonly Rule[] = ALL.map((rule) => ({ ...rule, page: `docs/rules/${rule.code}.md` }));
