// The Pulumi program: the hosts of one environment's catalogue, on its cluster or rendered as YAML.
import path from "node:path";
import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { EgressCatalog } from "../index";

const projectRoot = path.join(__dirname, "..");
const config = new pulumi.Config("istio-egress");

// With renderTo the manifests are written as YAML files into that folder, and no cluster is touched. The identifier says
// that it is the same cluster when its address changes: without one, every object would be made again and then deleted.
const renderTo = config.get("renderTo");
const cluster = new k8s.Provider("cluster", renderTo === undefined
    ? { context: config.get("context"), clusterIdentifier: config.get("clusterIdentifier") }
    : { renderYamlToDirectory: path.resolve(projectRoot, renderTo), kubeconfig: "" });

// Where several stacks share a mesh: the file in which they write which hosts they declare.
const registry = config.get("registry");
const catalog = new EgressCatalog("egress", { file: path.join(projectRoot, config.require("catalogue")), ...(registry === undefined ? {} : { registry: path.join(projectRoot, registry) }) }, { providers: [cluster] });

/** Who may reach what, by which way, and who answers for it. */
export const inventory = catalog.hosts.apply((hosts) => hosts.map(({ name, host, route, consumers, owner, purpose, expires }) => ({ name, host, route, consumers, owner, purpose, expires })));
/** What was decided for each host, why, and what a failover means for it. */
export const plans = catalog.hosts.apply((hosts) => Object.fromEntries(hosts.map(({ name, plan }) => [name, plan])));
