/** A filter that selects an account, by its email address or its id. */
import { FilterField, type FilterFieldProps } from '../../parts/filter-field.tsx';
import { adminText } from '../../text/admin-text.ts';

const emailPattern = String.raw`[^@\s]+@[^@\s]+`;
const accountPattern = `acc_[0-9A-Za-z]{1,60}|${emailPattern}`;

/** Whether the URL can have a value of such a filter. @param others a regular expression of values that stand for no account */
export const isAccountFilter = (value: string, others?: string): boolean =>
  new RegExp(`^(?:${patternOf(others)})$`).test(value);

const patternOf = (others: string | undefined): string =>
  others === undefined ? accountPattern : `${others}|${emailPattern}`;

interface AccountFilterProps<T> extends Pick<FilterFieldProps<T>, 'list' | 'name' | 'label'> {
  readonly others?: string;
}

export const AccountFilter = <T,>({ others, ...field }: AccountFilterProps<T>) => (
  <FilterField {...field} pattern={patternOf(others)} placeholder={adminText.general.emailOrId} />
);
