/**
 * The second step of an operation: what a person presses in a dialog must be meant for the dialog. A key that is held down since the first
 * step does not press the second one. In a frame, a hostile page could place the second step below the pointer of a double click: there,
 * the second step accepts nothing for a moment, and lies at another place than the pointer of the first one.
 */
import { createContext } from 'preact';

export interface SecondStepRules {
  /** For how long a dialog accepts no submission after it has appeared. 0: it accepts them at once. */
  readonly pauseMs: number;
  /** Milliseconds. */
  readonly now: () => number;
  /** Whether a dialog with a secret puts the focus on the button that copies it. */
  readonly focusesCopy: boolean;
}

/** Those of the console, which is in no frame. */
export const SecondStep = createContext<SecondStepRules>({
  pauseMs: 0,
  now: () => performance.now(),
  focusesCopy: true,
});

/** One dialog. */
export class Appearance {
  readonly #rules: SecondStepRules;
  readonly #at: number;

  constructor(rules: SecondStepRules) {
    this.#rules = rules;
    this.#at = rules.now();
  }

  /** Whether a submission is later than the pause. */
  accepts(): boolean {
    return this.#rules.now() - this.#at >= this.#rules.pauseMs;
  }
}

type Press = Pick<KeyboardEvent, 'key' | 'repeat'>;

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

interface Point {
  readonly x: number;
  readonly y: number;
}

/** How near to the pointer a button counts as below it, in CSS pixels. */
const margin = 8;

/** Whether a button lies below the pointer. */
export const liesBelow = (
  { x, y }: Point,
  { left, right, top, bottom }: Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>,
): boolean => x > left - margin && x < right + margin && y > top - margin && y < bottom + margin;

let pressedAt: Point | undefined;

/** Notes where the pointer is pressed: the first step of what follows. */
export function watchPointer(): void {
  addEventListener('pointerdown', ({ clientX, clientY }) => void (pressedAt = { x: clientX, y: clientY }), true);
  // By keyboard, there is no place.
  addEventListener('keydown', () => void (pressedAt = undefined), true);
}

/**
 * Moves the buttons of a form to the other end of their line if the submission lies below the pointer of the first step, also after the
 * dialog has changed its size.
 * @returns what ends it
 */
export function keepPlacesApart(dialog: HTMLElement): () => void {
  const first = pressedAt;
  if (!first) return () => undefined;
  const check = (): void => {
    const submit = dialog.querySelector<HTMLElement>('[type=submit]');
    if (submit && liesBelow(first, submit.getBoundingClientRect())) dialog.classList.toggle('other-end');
  };
  const observer = new ResizeObserver(check);
  observer.observe(dialog);
  return () => observer.disconnect();
}
