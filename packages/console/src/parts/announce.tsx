/** The live region: reads out results to users of screen readers. */
import { signal } from '@preact/signals';

const message = signal('');

export function announce(sentence: string): void {
  message.value = '';
  // Screen readers announce only changes.
  queueMicrotask(() => (message.value = sentence));
}

export const Announcements = () => (
  <div role="status" class="visually-hidden">
    {message}
  </div>
);
