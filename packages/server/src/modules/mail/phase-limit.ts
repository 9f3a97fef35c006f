/** The time limit of the present phase of a session. A new phase replaces the earlier one. */

export class PhaseError extends Error {}

export class PhaseLimit {
  /** Rejects with a PhaseError when a phase takes longer than its limit. */
  readonly exceeded: Promise<never>;
  readonly #reject: (error: PhaseError) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined);
    this.exceeded = promise;
    this.#reject = reject;
  }

  /** @param what the session waits for */
  begin(ms: number, what: string): void {
    this.end();
    this.#timer = setTimeout(() => this.#reject(new PhaseError(`waited ${durationOf(ms)} for ${what}`)), ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

const durationOf = (ms: number): string => (ms < 120_000 ? `${ms / 1000} seconds` : `${ms / 60_000} minutes`);
