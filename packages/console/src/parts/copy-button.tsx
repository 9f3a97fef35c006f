/** A small button that copies a value that the page shows beside it. */
import { useSignal } from '@preact/signals';
import { text } from '../text/text.ts';
import { announce } from './announce.tsx';
import { Button } from './button.tsx';

export function CopyButton({ label, value }: { readonly label: string; readonly value: string }) {
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      // Not available over plain HTTP, or not permitted: people select the text, which is on the page.
      announce(text.general.copyFailed);
      return;
    }
    isCopied.value = true;
    announce(text.general.copied);
    setTimeout(() => (isCopied.value = false), 3000);
  };
  return (
    <Button kind="quiet" isSmall isIconOnly icon={isCopied.value ? 'check' : 'copy'} onClick={() => void copy()}>
      {text.general.copy} {label}
    </Button>
  );
}
