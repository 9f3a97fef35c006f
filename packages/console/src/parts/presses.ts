/** Which presses in a dialog count (second-step.ts). */

interface Pause {
  readonly pauseMs: number;
  /** Milliseconds. */
  readonly now: () => number;
}

/** One dialog. */
export class Appearance {
  readonly #rules: Pause;
  readonly #at: number;

  constructor(rules: Pause) {
    this.#rules = rules;
    this.#at = rules.now();
  }

  /** Whether a submission is later than the pause. */
  accepts(): boolean {
    return this.#rules.now() - this.#at >= this.#rules.pauseMs;
  }
}

interface Press {
  readonly key: string;
  readonly repeat: boolean;
}

const textTypes = new Set(['text', 'search', 'email', 'number', 'password', 'date', 'url', 'tel']);

/**
 * Whether a key that is held down would press a button or submit a form. In a text, it repeats a letter.
 * @param target name of the element and, for an `input`, its type
 */
export function isHeldPress(
  { key, repeat }: Press,
  target: { readonly name: string; readonly type?: string },
): boolean {
  if (!repeat || (key !== 'Enter' && key !== ' ')) return false;
  if (target.name === 'TEXTAREA') return false;
  return key === 'Enter' || target.name !== 'INPUT' || !textTypes.has(target.type ?? 'text');
}
