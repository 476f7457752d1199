// The entry point of the policy pack: constructs it, which starts its server. Everything else is in pack.ts.
import { PolicyPack } from "@pulumi/policy";
import { PACK_NAME, policyPackArgs } from "./pack";

new PolicyPack(PACK_NAME, policyPackArgs());
