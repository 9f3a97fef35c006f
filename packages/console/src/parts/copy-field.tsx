/** A value in a read-only field with a button that copies it. */
import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { text } from '../text/text.ts';
import { announce } from './announce.tsx';
import { Button } from './button.tsx';

interface CopyFieldProps {
  readonly label: string;
  readonly value: string;
  /** Several lines, such as a command. */
  readonly isBlock?: boolean;
}

export function CopyField({ label, value, isBlock = false }: CopyFieldProps) {
  const id = useId();
  const isCopied = useSignal(false);
  const isFailed = useSignal(false);
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const copy = async (): Promise<void> => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      // Not available over plain HTTP, or not permitted: the text is selected, so that the keyboard can copy it.
      announce(text.general.copyFailed);
      isFailed.value = true;
      return;
    }
    isCopied.value = true;
    announce(text.general.copied);
    setTimeout(() => (isCopied.value = false), 3000);
  };
  const attributes = { id, ref: field, readOnly: true, value, spellcheck: false, autocomplete: 'off' } as const;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="input-with-button">
        {isBlock ? (
          <textarea {...attributes} class="code" rows={Math.min(6, value.split('\n').length + 1)} />
        ) : (
          <input {...attributes} class="code" />
        )}
        <Button icon={isCopied.value ? 'check' : 'copy'} onClick={() => void copy()}>
          {isCopied.value ? text.general.copied : text.general.copy}
          <span class="visually-hidden"> {label}</span>
        </Button>
      </div>
      {isFailed.value && <div class="hint">{text.general.copyFailed}</div>}
    </div>
  );
}
