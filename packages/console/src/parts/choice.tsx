/** A checkbox or a radio button with its label beside it; a group of them with a legend. */
import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';
import { describedBy, FieldError, Hint, useFieldError, type ErrorProps } from './field.tsx';

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
      <input type={type} {...rest} id={id} aria-describedby={describedBy(id, hint)} />
      <label for={id}>{label}</label>
      <Hint id={id}>{hint}</Hint>
    </div>
  );
}

interface ChoicesProps extends ErrorProps {
  readonly legend: string;
  readonly hint?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Choices({ legend, hint, children, ...errorProps }: ChoicesProps) {
  const id = useId();
  const error = useFieldError(errorProps);
  return (
    // A group cannot have `aria-invalid`.
    <fieldset aria-describedby={describedBy(id, hint, error)} data-invalid={error ? '' : undefined}>
      <legend>{legend}</legend>
      <div class="choices">
        <Hint id={id}>{hint}</Hint>
        <FieldError id={id}>{error}</FieldError>
        {children}
      </div>
    </fieldset>
  );
}
