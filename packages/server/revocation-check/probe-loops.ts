/** Several loops that send one probe after the other until they are stopped. */

export class ProbeLoops {
  readonly #loops: readonly Promise<void>[];
  #isOver = false;
  #count = 0;
  #waiters: { readonly count: number; readonly resolve: () => void }[] = [];

  /** @param probe sends one request and awaits its response; it never rejects */
  constructor(loops: number, probe: () => Promise<void>) {
    this.#loops = Array.from({ length: loops }, () => this.#run(probe));
  }

  /** Resolves after `count` more probes. It must not be called after `stop`. */
  more(count: number): Promise<void> {
    return new Promise((resolve) => this.#waiters.push({ count: this.#count + count, resolve }));
  }

  /** Resolves after the last response. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  async #run(probe: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      await probe();
      this.#count++;
      const ready = this.#waiters.filter(({ count }) => count <= this.#count);
      if (ready.length === 0) continue;
      this.#waiters = this.#waiters.filter(({ count }) => count > this.#count);
      for (const { resolve } of ready) resolve();
    }
  }
}
