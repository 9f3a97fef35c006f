/** The label, hint and error around an input, connected with it for screen readers. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { text } from '../text/text.ts';
import { Icon } from './icon.tsx';

export interface FrameProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly isOptional?: boolean | undefined;
}

interface InputAttributes {
  readonly id: string;
  readonly required: boolean;
  readonly 'aria-invalid': true | undefined;
  readonly 'aria-describedby': string | undefined;
}

interface LabelledProps extends FrameProps {
  readonly children: (attributes: InputAttributes) => ComponentChildren;
}

export function Labelled({ label, hint, error, isOptional = false, children }: LabelledProps) {
  const id = useId();
  const described = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ');
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
        'aria-describedby': described || undefined,
      })}
      {hint && (
        <div class="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {error && (
        <div class="field-error" id={`${id}-error`}>
          <Icon name="error" />
          {error}
        </div>
      )}
    </div>
  );
}
