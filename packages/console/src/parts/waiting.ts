/**
 * What waits until no dialog is open: a step of the history, and on the key page another language, the end of the session and the message
 * about a new key. An open dialog may show a secret that the server sends once.
 */
import { openDialogs } from './open-dialogs.ts';

const acts: (() => void)[] = [];

/** Calls `act` at once if no dialog is open, else after the last one has closed, in the order of the calls. */
export function whenNoDialogIsOpen(act: () => void): void {
  acts.push(act);
  proceed();
}

function proceed(): void {
  if (openDialogs.peek() === 0) for (const act of acts.splice(0)) act();
}

// Not at once: a dialog may take the place of the one that has closed.
openDialogs.subscribe(() => queueMicrotask(proceed));
