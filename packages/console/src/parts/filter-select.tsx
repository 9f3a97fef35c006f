/** A choice above a list that selects entries. The first option selects all. */
import type { List } from '../list.ts';

interface FilterSelectProps<T> {
  readonly list: List<T>;
  /** Of the query parameter. */
  readonly name: string;
  readonly label: string;
  /** The option without a filter. */
  readonly all: string;
  /** Labels by value. */
  readonly options: Readonly<Record<string, string>>;
}

export const FilterSelect = <T,>({ list, name, label, all, options }: FilterSelectProps<T>) => (
  <select
    aria-label={label}
    value={list.query[name] ?? ''}
    onChange={(event) => list.change(name, event.currentTarget.value)}
  >
    <option value="">{all}</option>
    {Object.entries(options).map(([value, shown]) => (
      <option value={value} key={value}>
        {shown}
      </option>
    ))}
  </select>
);
