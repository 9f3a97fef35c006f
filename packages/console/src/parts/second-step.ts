/**
 * The second step of an operation: what a person presses in a dialog must be meant for the dialog. A key that is held down since the first
 * step does not press the second one. In a frame, a hostile page could place the second step below the pointer of a double click: there,
 * the second step accepts nothing for a moment, and lies at another place than the pointer of the first one, and the Enter key in a radio
 * button or a checkbox does not submit the dialog.
 */
import { createContext } from 'preact';

export interface SecondStepRules {
  /** For how long a dialog accepts no submission after it has appeared. 0: it accepts them at once. */
  readonly pauseMs: number;
  /** Milliseconds. */
  readonly now: () => number;
  /** Keeps the submission of a dialog away from the pointer of the first step. @returns what ends it */
  readonly keepApart?: (dialog: HTMLElement) => () => void;
  /** Whether a dialog with a secret puts the focus on the button that copies it. */
  readonly focusesCopy: boolean;
}

/** Those of the console, which is in no frame. */
export const SecondStep = createContext<SecondStepRules>({
  pauseMs: 0,
  now: () => performance.now(),
  focusesCopy: true,
});
