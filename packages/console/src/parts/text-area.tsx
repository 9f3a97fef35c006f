/** A labelled input of several lines. */
import type { TextareaHTMLAttributes } from 'preact';
import { Labelled, type FrameProps } from './labelled.tsx';

interface TextAreaProps
  extends
    FrameProps,
    Pick<TextareaHTMLAttributes, 'value' | 'defaultValue' | 'rows' | 'maxLength' | 'onInput' | 'placeholder'> {
  readonly name: string;
  /** Letters of equal width. */
  readonly look?: 'code';
}

export const TextArea = ({ label, hint, error, isOptional, look, rows = 3, ...rest }: TextAreaProps) => (
  <Labelled label={label} hint={hint} error={error} isOptional={isOptional}>
    {(attributes) => <textarea {...attributes} {...rest} rows={rows} class={look} spellcheck={look !== 'code'} />}
  </Labelled>
);
