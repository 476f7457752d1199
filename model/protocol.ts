// What Istio makes of a port's protocol, for objects that others wrote; the names are read without regard to case.

export const HTTP_PROTOCOLS = ["HTTP", "HTTP2", "HTTP_PROXY", "GRPC", "GRPC-WEB"];
/** Encrypted by the application and routed by SNI. */
export const TLS_PROTOCOLS = ["TLS", "HTTPS"];
/** No name is on the wire before the server must be chosen. */
const TCP = ["TCP", "MONGO", "MYSQL", "REDIS"];

export const isHttp = (protocol: string): boolean => HTTP_PROTOCOLS.includes(protocol.toUpperCase());
export const isTls = (protocol: string): boolean => TLS_PROTOCOLS.includes(protocol.toUpperCase());
export const isTcp = (protocol: string): boolean => TCP.includes(protocol.toUpperCase());
/** Carried as a byte stream: the proxy sees connections, never requests. */
export const isL4 = (protocol: string): boolean => isTls(protocol) || isTcp(protocol);
