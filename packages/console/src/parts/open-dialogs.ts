/** How many dialogs are open. What would replace the page, such as another language, waits until there is none. */
import { signal } from '@preact/signals';

export const openDialogs = signal(0);
