/** A labelled choice of one option. */
import type { SelectHTMLAttributes } from 'preact';
import { Labelled, type FrameProps } from './labelled.tsx';

interface SelectProps extends FrameProps, Pick<SelectHTMLAttributes, 'value' | 'defaultValue' | 'onChange'> {
  readonly name: string;
  readonly options: readonly (readonly [value: string, label: string])[];
}

export const Select = ({ label, hint, error, isOptional, options, value, defaultValue, ...rest }: SelectProps) => (
  <Labelled label={label} hint={hint} error={error} isOptional={isOptional}>
    {(attributes) => (
      <select {...attributes} {...rest} {...(value === undefined ? {} : { value })}>
        {options.map(([option, shown]) => (
          <option value={option} selected={option === (value ?? defaultValue)} key={option}>
            {shown}
          </option>
        ))}
      </select>
    )}
  </Labelled>
);
