/** A value in a read-only field with a button that copies it. */
import { useId, useRef } from 'preact/hooks';
import { text } from '../text/text.ts';
import { Button } from './button.tsx';
import { useCopy } from './copy.ts';

interface CopyFieldProps {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  /** Several lines, such as a command. */
  readonly isBlock?: boolean;
}

export function CopyField({ label, value, hint, isBlock = false }: CopyFieldProps) {
  const id = useId();
  const { isCopied, isFailed, copy } = useCopy();
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const selectAndCopy = (): void => {
    field.current?.select();
    void copy(value);
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
        <Button icon={isCopied ? 'check' : 'copy'} onClick={selectAndCopy}>
          {isCopied ? text.general.copied : text.general.copy}
          <span class="visually-hidden"> {label}</span>
        </Button>
      </div>
      {hint && <div class="hint">{hint}</div>}
      {isFailed && <div class="hint">{text.general.copyFailed}</div>}
    </div>
  );
}
