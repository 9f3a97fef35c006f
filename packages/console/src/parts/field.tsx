/** A labelled input. Its hint and its error are connected with it for screen readers. */
import { useId } from 'preact/hooks';
import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useSignal } from '@preact/signals';
import { text } from '../text/text.ts';

type InputType = 'text' | 'email' | 'password' | 'number' | 'search' | 'date' | 'datetime-local';

interface FieldProps extends Pick<
  InputHTMLAttributes,
  | 'value'
  | 'defaultValue'
  | 'autocomplete'
  | 'minLength'
  | 'maxLength'
  | 'min'
  | 'max'
  | 'inputMode'
  | 'onInput'
  | 'placeholder'
> {
  readonly label: string;
  readonly name: string;
  readonly type?: InputType;
  /** For the first field of a page or dialog. */
  readonly autofocus?: boolean;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly isOptional?: boolean | undefined;
}

export function Field({ label, hint, error, isOptional = false, type = 'text', ...rest }: FieldProps) {
  const isShown = useSignal(false);
  const isPassword = type === 'password';
  // As an object: Preact's types allow only some roles for each type of input.
  const shownType = { type: isPassword && isShown.value ? 'text' : type };
  return (
    <Labelled label={label} hint={hint} error={error} isOptional={isOptional}>
      {(control) => {
        const input = <input required={!isOptional} {...rest} {...(shownType as object)} {...control} />;
        return isPassword ? (
          <div class="input-with-button">
            {input}
            <button
              type="button"
              class="button quiet"
              aria-pressed={isShown.value}
              onClick={() => void (isShown.value = !isShown.value)}
            >
              {isShown.value ? text.general.hide : text.general.show}
              <span class="visually-hidden"> {label}</span>
            </button>
          </div>
        ) : (
          input
        );
      }}
    </Labelled>
  );
}

interface LabelledProps extends Pick<FieldProps, 'label' | 'hint' | 'error' | 'isOptional'> {
  /** Receives the attributes that connect the control with its label, hint and error. */
  readonly children: (control: {
    readonly id: string;
    readonly 'aria-invalid': true | undefined;
    readonly 'aria-describedby': string | undefined;
  }) => ComponentChildren;
}

/** A label, a hint and an error around any control, such as a `<select>`. */
export function Labelled({ label, hint, error, isOptional = false, children }: LabelledProps) {
  const id = useId();
  const described = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isOptional && <span class="muted"> ({text.general.optional})</span>}
      </label>
      {children({ id, 'aria-invalid': error ? true : undefined, 'aria-describedby': described || undefined })}
      {hint && (
        <div class="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {error && (
        <div class="field-error" id={`${id}-error`}>
          {error}
        </div>
      )}
    </div>
  );
}
