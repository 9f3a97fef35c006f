/** Several askers that ask one question after the other until they are stopped; others wait by what they have done. */

export class Probing {
  readonly #askers: readonly Promise<void>[];
  #isOver = false;
  #count = 0;
  #waiting: { readonly count: number; readonly go: () => void }[] = [];

  /** @param ask one question, from its start to its answer; it never rejects */
  constructor(askers: number, ask: () => Promise<void>) {
    this.#askers = Array.from({ length: askers }, () => this.#askOn(ask));
  }

  /** Resolves when so many more have been answered. Not after the stop. */
  more(count: number): Promise<void> {
    return new Promise((go) => this.#waiting.push({ count: this.#count + count, go }));
  }

  /** Resolves when the last has been answered. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#askers);
  }

  async #askOn(ask: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      await ask();
      this.#count++;
      const ready = this.#waiting.filter(({ count }) => count <= this.#count);
      if (ready.length === 0) continue;
      this.#waiting = this.#waiting.filter(({ count }) => count > this.#count);
      for (const { go } of ready) go();
    }
  }
}
