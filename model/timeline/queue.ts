// What is to happen, in the order of time; what is due together happens in the order in which it was added.

interface Item<T> {
    readonly at: number;
    readonly order: number;
    readonly what: T;
}

const isBefore = (a: Item<unknown>, b: Item<unknown>): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** A binary heap. */
export class EventQueue<T> {
    private readonly heap: Item<T>[] = [];
    private added = 0;

    add(at: number, what: T): void {
        const { heap } = this, item = { at, order: this.added++, what };
        let index = heap.length;
        for (let above = (index - 1) >> 1; index > 0; index = above, above = (index - 1) >> 1) {
            const parent = heap[above];
            if (parent === undefined || !isBefore(item, parent)) break;
            heap[index] = parent;
        }
        heap[index] = item;
    }

    next(): { readonly at: number; readonly what: T } | undefined {
        const { heap } = this, first = heap[0], last = heap.pop();
        if (first === undefined || last === undefined || heap.length === 0) return first;
        let index = 0;
        for (;;) {
            let below = 2 * index + 1, child = heap[below];
            const other = heap[below + 1];
            if (child !== undefined && other !== undefined && isBefore(other, child)) [below, child] = [below + 1, other];
            if (child === undefined || !isBefore(child, last)) break;
            heap[index] = child;
            index = below;
        }
        heap[index] = last;
        return first;
    }
}
