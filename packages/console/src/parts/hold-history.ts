/** A step of the history, such as Back, waits until no dialog is open: the page that it leaves would take the secret of a dialog with it. */
import { openDialogs } from './open-dialogs.ts';
import { whenNoDialogIsOpen } from './waiting.ts';

/** Call it before the router adds its listener: browsers call the listeners of the window in the order in which they were added. */
export const holdHistory = (): void =>
  addEventListener('popstate', (event) => {
    if (openDialogs.peek() === 0) return;
    event.stopImmediatePropagation();
    whenNoDialogIsOpen(() => dispatchEvent(new Event('popstate')));
  });
