/** Labelled controls: an input of one line, one of several lines, and a choice of one option. */
import { createContext } from 'preact';
import type { ComponentChildren, InputHTMLAttributes, SelectHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { useContext, useId } from 'preact/hooks';
import type { Problem } from '../problem.ts';
import { text } from '../text/text.ts';
import { markFirst } from './first-field.ts';
import { Icon } from './icon.tsx';
import { PasswordInput } from './password-input.tsx';

/** The problem of the form around a field. */
export const FormProblem = createContext<Problem | undefined>(undefined);

export interface ErrorProps {
  readonly error?: string | undefined;
  /** Codes of problems of the form that concern the field. */
  readonly codes?: readonly string[] | undefined;
  /** The member of the request body, for example `/nickname`. */
  readonly pointer?: string | undefined;
}

/** @returns the given error, or the sentence of the form's problem that concerns the field */
export function useFieldError({ error, codes = [], pointer }: ErrorProps): string | undefined {
  const problem = useContext(FormProblem);
  if (error !== undefined || !problem) return error;
  return codes.includes(problem.code) ? problem.sentence : pointer && problem.about(pointer);
}

interface FrameProps extends ErrorProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly isOptional?: boolean | undefined;
}

interface ControlAttributes {
  readonly id: string;
  readonly required: boolean;
  readonly 'aria-invalid': true | undefined;
  readonly 'aria-describedby': string | undefined;
}

interface LabelledProps extends FrameProps {
  readonly children: (attributes: ControlAttributes) => ComponentChildren;
}

/** The label, hint and error around a control, connected with it for screen readers. */
export function Labelled({ label, hint, isOptional = false, children, ...errorProps }: LabelledProps) {
  const id = useId();
  const error = useFieldError(errorProps);
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isOptional && <span class="muted"> ({text.general.optional})</span>}
      </label>
      {children({
        id,
        required: !isOptional,
        'aria-invalid': error ? true : undefined,
        'aria-describedby': describedBy(id, hint, error),
      })}
      <Hint id={id}>{hint}</Hint>
      <FieldError id={id}>{error}</FieldError>
    </div>
  );
}

/** The ids of the hint and of the error, for screen readers. @param id of the control or the group */
export const describedBy = (id: string, hint: ComponentChildren, error?: string): string | undefined =>
  [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;

interface DescriptionProps {
  /** Of the control or the group. */
  readonly id: string;
  readonly children: ComponentChildren;
}

export const Hint = ({ id, children }: DescriptionProps) =>
  children ? (
    <div class="hint" id={`${id}-hint`}>
      {children}
    </div>
  ) : null;

/** Below the hint, which stays. */
export const FieldError = ({ id, children }: DescriptionProps) =>
  children ? (
    <div class="field-error" id={`${id}-error`}>
      <Icon name="error" />
      <span>{children}</span>
    </div>
  ) : null;

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
  /** `code`: letters of equal width, not corrected; `one-time-code`: large digits. */
  readonly look?: keyof typeof looks;
}

const looks = {
  code: { autocomplete: 'off', autocapitalize: 'none', spellcheck: false },
  'one-time-code': { autocomplete: 'one-time-code', inputMode: 'numeric' },
} as const;

export function Field({ type = 'text', look, autofocus, ...props }: FieldProps) {
  const { label, hint, error, codes, pointer, isOptional, ...rest } = props;
  return (
    <Labelled {...{ label, hint, error, codes, pointer, isOptional }}>
      {(attributes) =>
        type === 'password' ? (
          <PasswordInput label={label} {...attributes} {...rest} {...markFirst(autofocus)} />
        ) : (
          // As an object: Preact's types allow only some roles for each type of input.
          <input
            {...({ type } as object)}
            {...attributes}
            {...(look && looks[look])}
            {...rest}
            {...markFirst(autofocus)}
            class={look}
          />
        )
      }
    </Labelled>
  );
}

interface TextAreaProps
  extends
    FrameProps,
    Pick<TextareaHTMLAttributes, 'value' | 'defaultValue' | 'rows' | 'maxLength' | 'onInput' | 'placeholder'> {
  readonly name: string;
  /** Letters of equal width. */
  readonly look?: 'code';
}

export function TextArea({ look, rows = 3, ...props }: TextAreaProps) {
  const { label, hint, error, codes, pointer, isOptional, ...rest } = props;
  return (
    <Labelled {...{ label, hint, error, codes, pointer, isOptional }}>
      {(attributes) => <textarea {...attributes} {...rest} rows={rows} class={look} spellcheck={look !== 'code'} />}
    </Labelled>
  );
}

interface SelectProps extends FrameProps, Pick<SelectHTMLAttributes, 'value' | 'defaultValue' | 'onChange'> {
  readonly name: string;
  readonly options: readonly (readonly [value: string, label: string])[];
}

export const Select = ({ name, options, value, defaultValue, onChange, ...frame }: SelectProps) => (
  <Labelled {...frame}>
    {(attributes) => (
      <select {...attributes} name={name} {...(onChange && { onChange })} {...(value === undefined ? {} : { value })}>
        {options.map(([option, shown]) => (
          <option value={option} selected={option === (value ?? defaultValue)} key={option}>
            {shown}
          </option>
        ))}
      </select>
    )}
  </Labelled>
);
