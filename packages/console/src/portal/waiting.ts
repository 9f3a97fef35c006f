/**
 * What waits until no dialog is open: another language, the end of the session, and the news of a new key. An open dialog may show a
 * secret that the server sends once.
 */
import { effect } from '@preact/signals';
import { openDialogs } from '../parts/open-dialogs.ts';

const waiting: (() => void)[] = [];

export function whenNoDialogIsOpen(act: () => void): void {
  waiting.push(act);
  proceed();
}

function proceed(): void {
  if (openDialogs.peek() === 0) for (const act of waiting.splice(0)) act();
}

// Not at once: a dialog may take the place of the one that has closed.
effect(() => {
  if (openDialogs.value === 0) queueMicrotask(proceed);
});
