/** A value in a read-only field, which shows all of it, with a button that copies it. */
import { useId, useRef } from 'preact/hooks';
import { text } from '../text/text.ts';
import { Button } from './button.tsx';
import { useCopy } from './copy.ts';
import { describedBy, Hint } from './field.tsx';

/** Of a line on wide screens. */
const lineChars = 64;

interface CopyFieldProps {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  /** The button gets the focus when its dialog opens. */
  readonly autofocus?: boolean;
}

export function CopyField({ label, value, hint, autofocus = false }: CopyFieldProps) {
  const id = useId();
  const { isCopied, isFailed, copy } = useCopy();
  const field = useRef<HTMLTextAreaElement>(null);
  const selectAndCopy = (): void => {
    field.current?.select();
    void copy(value);
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="input-with-button">
        <textarea
          ref={field}
          id={id}
          class="code"
          readOnly
          // For browsers that do not size it by its content.
          rows={value.length > lineChars ? 1 + Math.ceil(value.length / lineChars) : 1}
          value={value}
          spellcheck={false}
          autocomplete="off"
          aria-describedby={describedBy(id, hint)}
        />
        <Button autofocus={autofocus} icon={isCopied ? 'check' : 'copy'} onClick={selectAndCopy}>
          {isCopied ? text.general.copied : text.general.copy}
          <span class="visually-hidden"> {label}</span>
        </Button>
      </div>
      <Hint id={id}>{hint}</Hint>
      {isFailed && <div class="hint">{text.general.copyFailed}</div>}
    </div>
  );
}
