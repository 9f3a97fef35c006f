/** A checkbox or a radio button with its label beside it; a group of them with a legend. */
import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';
import { useFieldError } from './field.tsx';

interface ChoiceProps extends Pick<
  InputHTMLAttributes,
  'value' | 'checked' | 'defaultChecked' | 'required' | 'disabled' | 'onChange'
> {
  readonly type?: 'checkbox' | 'radio';
  readonly label: ComponentChildren;
  readonly name: string;
  readonly hint?: ComponentChildren;
}

export function Choice({ type = 'checkbox', label, hint, ...rest }: ChoiceProps) {
  const id = useId();
  return (
    <div class="choice">
      <input type={type} {...rest} id={id} aria-describedby={hint ? `${id}-hint` : undefined} />
      <label for={id}>{label}</label>
      {hint && (
        <div class="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
    </div>
  );
}

interface ChoicesProps {
  readonly legend: string;
  readonly hint?: ComponentChildren;
  /** The member of the request body whose error replaces the hint. */
  readonly pointer?: string;
  readonly children: ComponentChildren;
}

export function Choices({ legend, hint: usualHint, pointer, children }: ChoicesProps) {
  const id = useId();
  const hint = useFieldError({ pointer }) ?? usualHint;
  return (
    <fieldset aria-describedby={hint ? id : undefined}>
      <legend>{legend}</legend>
      <div class="choices">
        {hint && (
          <div class="hint" id={id}>
            {hint}
          </div>
        )}
        {children}
      </div>
    </fieldset>
  );
}
