/** When a key expires: a number of days, a date, or never. */
import { useSignal } from '@preact/signals';
import type { Fields } from '../../fields.ts';
import { formatDateTime } from '../../format.ts';
import { Field, Select } from '../../parts/field.tsx';
import { Notice } from '../../parts/notice.tsx';
import { config } from '../../session-state.ts';
import { text } from '../../text/text.ts';

const dayMs = 86_400_000;
const suggestedDays = 90;
/** The browser's clock may be ahead of the server's. */
const clockMarginMs = 60_000;

/** The member of the request body. */
const pointer = '/expiresAt';

/** Days; 0: no limit. */
const daysMax = (): number => config.value?.features.keyDaysMax ?? 0;
const dayAfter = (days: number): string => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

interface ExpiryFieldProps {
  /** Of the key that is changed. Absent for a new key. */
  readonly current?: string | null | undefined;
}

export function ExpiryField({ current }: ExpiryFieldProps) {
  const longest = daysMax();
  const choices = [30, suggestedDays, 365].filter((days) => !longest || days < longest);
  if (longest) choices.push(longest);
  const usual = choices.includes(suggestedDays) ? suggestedDays : choices[0];
  const chosen = useSignal(current === undefined ? String(usual) : 'keep');
  const labelOf = (days: number): string =>
    days === longest ? text.keys.longest(days) : days === usual ? text.keys.suggested(days) : text.keys.days(days);
  const options: [string, string][] = choices.map((days) => [String(days), labelOf(days)]);
  options.push(['date', text.keys.onDate]);
  if (!longest) options.push(['never', text.general.never]);
  if (current !== undefined)
    options.unshift(['keep', text.keys.keep(current === null ? text.general.never : formatDateTime(current))]);
  return (
    <>
      <Select
        label={text.keys.expires}
        name="expires"
        {...(chosen.value !== 'date' && { pointer })}
        hint={longest > 0 && text.keys.daysMax(longest)}
        value={chosen.value}
        onChange={(event) => void (chosen.value = event.currentTarget.value)}
        options={options}
      />
      {chosen.value === 'date' && (
        <Field
          label={text.keys.lastDay}
          name="lastDay"
          type="date"
          pointer={pointer}
          min={dayAfter(0)}
          {...(longest > 0 && { max: dayAfter(longest - 1) })}
        />
      )}
      {chosen.value === 'never' && (
        <Notice tone="warning" role="status">
          {text.keys.neverWarning}
        </Notice>
      )}
    </>
  );
}

/** @returns undefined to keep the expiry, also of a form without the field, or, for a new key, to get the longest lifetime that the operator allows */
export function expiryOf(fields: Fields, isNew: boolean): string | null | undefined {
  const choice = fields.text('expires');
  if (choice === 'keep' || choice === '') return undefined;
  if (choice === 'never') return null;
  if (choice === 'date') return new Date(`${fields.text('lastDay')}T23:59:59`).toISOString();
  const days = Number(choice);
  if (days !== daysMax()) return new Date(Date.now() + days * dayMs).toISOString();
  return isNew ? undefined : new Date(Date.now() + days * dayMs - clockMarginMs).toISOString();
}
