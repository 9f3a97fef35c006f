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
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const copy = async (): Promise<void> => {
    field.current?.select();
    // Not available over plain HTTP: the selection remains for the keyboard.
    await navigator.clipboard?.writeText(value);
    isCopied.value = true;
    announce(text.general.copied);
  };
  const attributes = { id, ref: field, readOnly: true, value, spellcheck: false, autocomplete: 'off' } as const;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="input-with-button">
        {isBlock ? (
          <textarea {...attributes} class="code" rows={Math.min(6, value.split('\n').length)} />
        ) : (
          <input {...attributes} class="code" />
        )}
        <Button onClick={() => void copy()}>
          {isCopied.value ? text.general.copied : text.general.copy}
          <span class="visually-hidden"> {label}</span>
        </Button>
      </div>
    </div>
  );
}
