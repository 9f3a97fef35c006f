/** Copies a text that the page shows. */
import { useSignal } from '@preact/signals';
import { text } from '../text/text.ts';
import { announce } from './announce.tsx';

/** For how long a button shows that the text was copied. */
const copiedMs = 3_000;

export function useCopy() {
  const isCopied = useSignal(false);
  const isFailed = useSignal(false);
  const copy = async (value: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      // Not available over plain HTTP, or not permitted: the keyboard can copy the text, which is on the page.
      announce(text.general.copyFailed);
      isFailed.value = true;
      return;
    }
    isCopied.value = true;
    announce(text.general.copied);
    setTimeout(() => (isCopied.value = false), copiedMs);
  };
  return { isCopied: isCopied.value, isFailed: isFailed.value, copy };
}
