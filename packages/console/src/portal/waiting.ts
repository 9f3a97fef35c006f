/**
 * What waits until no dialog is open: another language, the end of the session, the message about a new key, and a step of the history. An
 * open dialog may show a secret that the server sends once.
 */
import { effect } from '@preact/signals';
import { openDialogs } from '../parts/open-dialogs.ts';
import { WaitingActs } from './waiting-acts.ts';

const acts = new WaitingActs(() => openDialogs.peek() > 0);

export const whenNoDialogIsOpen = (act: () => void): void => acts.add(act);

effect(() => {
  if (openDialogs.value === 0) acts.check();
});
