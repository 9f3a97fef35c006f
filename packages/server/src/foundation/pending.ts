/**
 * A result that may not be known yet. Its callbacks run in the call that makes it known, while those of a promise run in
 * microtasks: for the hot path. A failure without a callback is ignored.
 */
type Known<T> = (value: T) => void;
type Failed = (error: unknown) => void;

type State<T> =
  | { readonly kind: 'waiting'; readonly callbacks: [Known<T>, Failed][] }
  | { readonly kind: 'known'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown };

export class Pending<T> {
  #state: State<T> = { kind: 'waiting', callbacks: [] };

  /** Only the first call of this and {@link fail} counts. */
  know(value: T): void {
    this.#settle({ kind: 'known', value });
  }

  fail(error: unknown): void {
    this.#settle({ kind: 'failed', error });
  }

  /** Calls one of the two. An error of `known` goes to `failed`, so it affects no other callback. */
  when(known: Known<T>, failed: Failed): void {
    const state = this.#state;
    if (state.kind === 'waiting') state.callbacks.push([known, failed]);
    else if (state.kind === 'failed') failed(state.error);
    else
      try {
        known(state.value);
      } catch (error) {
        failed(error);
      }
  }

  get promise(): Promise<T> {
    return new Promise((resolve, reject) => this.when(resolve, reject));
  }

  #settle(state: State<T>): void {
    if (this.#state.kind !== 'waiting') return;
    const { callbacks } = this.#state;
    this.#state = state;
    for (const [known, failed] of callbacks) this.when(known, failed);
  }
}
