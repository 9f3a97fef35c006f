/** Acts that wait, in order, until nothing prevents them. */
export class WaitingActs {
  readonly #isPrevented: () => boolean;
  readonly #acts: (() => void)[] = [];

  constructor(isPrevented: () => boolean) {
    this.#isPrevented = isPrevented;
  }

  /** At once if nothing prevents it. */
  add(act: () => void): void {
    this.#acts.push(act);
    this.#proceed();
  }

  /** Not at once: a dialog may take the place of the one that has closed. */
  check(): void {
    queueMicrotask(() => this.#proceed());
  }

  #proceed(): void {
    if (!this.#isPrevented()) for (const act of this.#acts.splice(0)) act();
  }
}
