// One external host of the payments team.
import * as pulumi from "@pulumi/pulumi";
import { ExternalEgressHost, type GatewayReferenceArgs } from "istio-egress";

const config = new pulumi.Config();

const host = new ExternalEgressHost("partner-api", {
    host: "api.partner.example",
    namespace: "payments-egress",
    pool: { membership: "fixed", addressesPerAnswer: 2 },
    failover: { detectionTime: "10s", dnsTtl: "5s" },
    route: "mtls-passthrough",
    gateway: config.requireObject<GatewayReferenceArgs>("gateway"),
    consumers: [{ namespace: "payments" }],
    ownership: { owner: "team-payments", purpose: "card settlement", expires: "2027-06-30" },
});

export const plan = host.plan.summary;
