/** A choice between a few views, for example periods of a chart. */
import { useId } from 'preact/hooks';

interface SegmentsProps<V extends string> {
  readonly label: string;
  readonly options: readonly (readonly [value: V, label: string])[];
  readonly value: V;
  readonly onChange: (value: V) => void;
}

export function Segments<V extends string>({ label, options, value, onChange }: SegmentsProps<V>) {
  const name = useId();
  return (
    <fieldset class="segments" aria-label={label}>
      {options.map(([option, shown]) => (
        <label class="segment" key={option}>
          <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} />
          {shown}
        </label>
      ))}
    </fieldset>
  );
}
