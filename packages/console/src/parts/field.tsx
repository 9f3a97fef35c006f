/** A labelled input of one line. */
import type { InputHTMLAttributes } from 'preact';
import { markFirst } from './first-field.ts';
import { Labelled, type FrameProps } from './labelled.tsx';
import { PasswordInput } from './password-input.tsx';

export { Labelled };

type InputType = 'text' | 'email' | 'password' | 'number' | 'search' | 'date' | 'datetime-local';

interface FieldProps
  extends
    FrameProps,
    Pick<
      InputHTMLAttributes,
      | 'value'
      | 'defaultValue'
      | 'autocomplete'
      | 'minLength'
      | 'maxLength'
      | 'min'
      | 'max'
      | 'pattern'
      | 'title'
      | 'inputMode'
      | 'spellcheck'
      | 'autocapitalize'
      | 'onInput'
      | 'placeholder'
    > {
  readonly name: string;
  readonly type?: InputType;
  /** For the first field of a page or dialog. */
  readonly autofocus?: boolean | undefined;
  /** `code`: letters of equal width; `one-time-code`: large digits. */
  readonly look?: 'code' | 'one-time-code';
}

export function Field({ label, hint, error, isOptional, type = 'text', look, autofocus, ...rest }: FieldProps) {
  return (
    <Labelled label={label} hint={hint} error={error} isOptional={isOptional}>
      {(attributes) =>
        type === 'password' ? (
          <PasswordInput label={label} {...attributes} {...rest} {...markFirst(autofocus)} />
        ) : (
          // As an object: Preact's types allow only some roles for each type of input.
          <input {...({ type } as object)} {...attributes} {...rest} {...markFirst(autofocus)} class={look} />
        )
      }
    </Labelled>
  );
}
