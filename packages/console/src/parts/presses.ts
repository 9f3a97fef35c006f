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

interface Target {
  readonly name: string;
  readonly type?: string;
}

const textTypes = new Set(['text', 'search', 'email', 'number', 'password', 'date', 'url', 'tel']);

/**
 * Whether a key that is held down would press a button or submit a form. In a text, it repeats a letter.
 * @param target name of the element and, for an `input`, its type
 */
export function isHeldPress({ key, repeat }: Press, target: Target): boolean {
  if (!repeat || (key !== 'Enter' && key !== ' ')) return false;
  if (target.name === 'TEXTAREA') return false;
  return key === 'Enter' || target.name !== 'INPUT' || !textTypes.has(target.type ?? 'text');
}

/** Whether the Enter key would submit a form from a radio button or a box, which a dialog may have focused. */
export const submitsFromChoice = ({ key }: Pick<Press, 'key'>, { name, type = '' }: Target): boolean =>
  key === 'Enter' && name === 'INPUT' && (type === 'radio' || type === 'checkbox');
