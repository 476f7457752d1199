// How a proxy spreads connections over the addresses of a host (DestinationRule, loadBalancer.simple).

export const LoadBalancer = { RoundRobin: "ROUND_ROBIN", LeastRequest: "LEAST_REQUEST", Random: "RANDOM" } as const;
export type LoadBalancer = (typeof LoadBalancer)[keyof typeof LoadBalancer];
