/** New recovery codes, which the server sends once. */
import { computed, effect, signal } from '@preact/signals';
import { session } from '../../session.ts';

/** While set, the dialog that shows them is open. */
export const recoveryCodes = signal<readonly string[]>();

const accountId = computed(() => session.value?.account.id);
// They must not stay on the screen after the end of the session, nor appear to another account.
effect(() => {
  void accountId.value;
  recoveryCodes.value = undefined;
});
