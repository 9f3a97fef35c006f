/** A small button that copies a value that the page shows beside it. */
import { text } from '../text/text.ts';
import { Button } from './button.tsx';
import { useCopy } from './copy.ts';

export function CopyButton({ label, value }: { readonly label: string; readonly value: string }) {
  const { isCopied, copy } = useCopy();
  return (
    <Button kind="quiet" isSmall isIconOnly icon={isCopied ? 'check' : 'copy'} onClick={() => void copy(value)}>
      {text.general.copy} {label}
    </Button>
  );
}
