/** One call for all callers that wait for it. A caller joins the next call, never one that began before it. */

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class CoalescedCall {
  readonly #run: () => Promise<unknown>;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(run: () => Promise<unknown>) {
    this.#run = run;
  }

  call(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (!this.#isRunning) void this.#runUntilEmpty();
    });
  }

  async #runUntilEmpty(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const joined = this.#waiting.splice(0);
      try {
        await this.#run();
        for (const { resolve } of joined) resolve();
      } catch (error) {
        for (const { reject } of joined) reject(error);
      }
    }
    this.#isRunning = false;
  }
}
