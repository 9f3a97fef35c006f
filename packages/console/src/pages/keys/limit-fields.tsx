/** The fields for the limits of a key or an account. */
import type { Fields } from '../../fields.ts';
import { Field, Select } from '../../parts/field.tsx';
import { text } from '../../text/text.ts';
import type { KeyDetails } from './key-owner.ts';

export type Limits = KeyDetails['limits'];

interface LimitFieldsProps {
  readonly limits: Limits;
  /** JSON pointer of the limits in the request body. */
  readonly pointer?: string;
}

export function LimitFields({ limits, pointer = '/limits' }: LimitFieldsProps) {
  const { rate, quota } = limits ?? {};
  return (
    <>
      <fieldset class="narrow-columns">
        <legend>{text.keys.rate}</legend>
        <NumberField
          label={text.keys.rateLimit}
          name="rateLimit"
          value={rate?.limit}
          max={1_000_000}
          pointer={`${pointer}/rate/limit`}
        />
        <NumberField
          label={text.keys.rateWindow}
          name="rateWindow"
          value={rate?.windowSeconds ?? 60}
          max={86_400}
          pointer={`${pointer}/rate/windowSeconds`}
        />
        <NumberField
          label={text.keys.rateBurst}
          name="rateBurst"
          value={rate?.burst === rate?.limit ? undefined : rate?.burst}
          max={1_000_000}
          pointer={`${pointer}/rate/burst`}
        />
      </fieldset>
      <fieldset class="narrow-columns">
        <legend>{text.keys.quota}</legend>
        <NumberField
          label={text.keys.quotaLimit}
          name="quotaLimit"
          value={quota?.limit}
          max={1_000_000_000_000}
          pointer={`${pointer}/quota/limit`}
        />
        <Select
          label={text.keys.quotaPer}
          name="quotaPer"
          pointer={`${pointer}/quota/per`}
          defaultValue={quota?.per ?? 'month'}
          options={Object.entries(text.keys.per)}
        />
      </fieldset>
    </>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly name: string;
  readonly value: number | undefined;
  readonly max: number;
  readonly pointer?: string;
}

const NumberField = ({ value, ...rest }: NumberFieldProps) => (
  <Field {...rest} type="number" inputMode="numeric" min={1} isOptional defaultValue={value ?? ''} />
);

/** Empty amounts mean no limit. */
export function limitsOf(fields: Fields): Required<NonNullable<Limits>> {
  const number = (name: string): number => Number(fields.text(name));
  const limit = number('rateLimit');
  return {
    rate: limit ? { limit, windowSeconds: number('rateWindow') || 60, burst: number('rateBurst') || limit } : null,
    quota: number('quotaLimit')
      ? { limit: number('quotaLimit'), per: fields.text('quotaPer') as 'day' | 'month' | 'ever' }
      : null,
  };
}
