/** How long a key is valid from its creation on: one of several durations. */
import type { Fields } from '../../fields.ts';
import { Select } from '../../parts/field.tsx';
import { locale } from '../../text/text.ts';

const daySeconds = 86_400;

/** Seconds. */
export const usualLifetimes = [3_600, daySeconds, 7 * daySeconds, 30 * daySeconds, 90 * daySeconds, 365 * daySeconds];

const units = [
  ['day', daySeconds],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** In the largest unit without a fraction, for example “90 days”. */
export function formatDuration(seconds: number): string {
  const [unit, size] = units.find((one) => seconds % one[1] === 0) ?? units[3];
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(seconds / size);
}

interface LifetimeFieldProps {
  readonly label: string;
  /** Seconds, in ascending order. */
  readonly lifetimes: readonly number[];
  /** The one that is chosen first. 0: the person has to choose one. */
  readonly current: number;
  readonly labelOf?: (seconds: number) => string;
}

export const LifetimeField = ({ label, lifetimes, current, labelOf = formatDuration }: LifetimeFieldProps) => (
  <Select
    label={label}
    name="lifetime"
    pointer="/lifetimeSeconds"
    defaultValue={String(current)}
    options={[
      ...(current === 0 ? [['', '–'] as const] : []),
      ...lifetimes.map((seconds) => [String(seconds), labelOf(seconds)] as const),
    ]}
  />
);

export const lifetimeOf = (fields: Fields): number => Number(fields.text('lifetime'));
