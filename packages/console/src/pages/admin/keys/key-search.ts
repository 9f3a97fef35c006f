/** The filters of the list of all keys, from the values in the URL to those of the API. */
import type { RequestOf } from '../../../api.ts';
import type { ListQuery } from '../../../list.ts';
import { hasSecret } from '../../../secret-text.ts';
import { isAccountFilter } from '../account-filter.tsx';

type Query = NonNullable<RequestOf<'GET /admin/api-keys'>['query']>;

const isDate = (value: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(`${value}T00:00`));

/** Whether the URL can have a value of a filter. */
export const keyFilters: Readonly<Record<string, (value: string) => boolean>> = {
  search: (value) => !hasSecret(value),
  owner: (value) => isAccountFilter(value),
  scope: (value) => /^[\x21-\x7e]{1,64}$/.test(value),
  unusedSince: isDate,
  expiresBefore: isDate,
};

/** At the beginning of the day in the person's time zone. */
const instantOf = (date: string | undefined): { at?: string } =>
  date === undefined ? {} : { at: new Date(`${date}T00:00`).toISOString() };

/** One field for what an administrator knows of a key: its hint, such as `krv_…x7Qa` or `…x7Qa`, its id, or its nickname. */
function searchOf(text: string | undefined): Pick<Query, 'hint' | 'id' | 'nickname'> {
  const trimmed = text?.trim().replace('...', '…') ?? '';
  if (trimmed === '') return {};
  if (trimmed.includes('…')) return { hint: trimmed.replace(/^…/, '') };
  return /^[1-9]\d{9,15}$/.test(trimmed) ? { id: trimmed } : { nickname: trimmed };
}

export function keyQueryOf({ search, unusedSince, expiresBefore, ...others }: ListQuery): Query {
  const { at: since } = instantOf(unusedSince);
  const { at: before } = instantOf(expiresBefore);
  return {
    ...(others as Query),
    ...searchOf(search),
    ...(since && { unusedSince: since }),
    ...(before && { expiresBefore: before }),
  };
}
