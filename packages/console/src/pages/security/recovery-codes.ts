/** New recovery codes, which the server sends once. */
import { signal } from '@preact/signals';

/** While set, the dialog that shows them is open. */
export const recoveryCodes = signal<readonly string[]>();
