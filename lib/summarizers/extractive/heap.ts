/** A binary max-heap of numbered items; ties go to the smaller number, so that results are deterministic. */
export class MaxHeap {
  readonly #items: number[] = [];
  readonly #keys: number[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** The greatest key, or -Infinity when empty. */
  get topKey(): number {
    return this.#keys[0] ?? Number.NEGATIVE_INFINITY;
  }

  push(item: number, key: number): void {
    this.#items.push(item);
    this.#keys.push(key);
    let at = this.#items.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): number | undefined {
    const top = this.#items[0];
    if (top === undefined) return undefined;
    this.#swap(0, this.#items.length - 1);
    this.#items.pop();
    this.#keys.pop();
    this.#sink();
    return top;
  }

  #sink(): void {
    const { length } = this.#items;
    let at = 0;
    for (;;) {
      let best = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < length && this.#before(child, best)) best = child;
      }
      if (best === at) return;
      this.#swap(at, best);
      at = best;
    }
  }

  #before(a: number, b: number): boolean {
    const difference = (this.#keys[a] ?? 0) - (this.#keys[b] ?? 0);
    return difference > 0 || (difference === 0 && (this.#items[a] ?? 0) < (this.#items[b] ?? 0));
  }

  #swap(a: number, b: number): void {
    for (const list of [this.#items, this.#keys]) {
      const held = list[a] ?? 0;
      list[a] = list[b] ?? 0;
      list[b] = held;
    }
  }
}
