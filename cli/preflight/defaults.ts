// What is taken for granted of a mesh until somebody says otherwise.

/** Where istiod is. */
export const DEFAULT_ISTIO_NAMESPACE = "istio-system";
