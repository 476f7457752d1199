// Fields of a component as Outputs that are made when they are first read.

/**
 * An Output of a plan is hundreds of promises, and few programs read the plan of every host. `make` runs at the first
 * reading; the field is otherwise like any other.
 */
export function publish<T extends object, K extends keyof T>(component: T, field: K, make: () => T[K]): void {
    let made: { readonly value: T[K] } | undefined;
    Object.defineProperty(component, field, { enumerable: true, configurable: true, get: () => (made ??= { value: make() }).value });
}
