/** The line above a table: search and filters. */
import type { ComponentChildren } from 'preact';
import type { List } from '../list.ts';
import { text } from '../text/text.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

interface SearchProps {
  readonly label: string;
  readonly value: string;
  /** Called for each input; the caller delays its request. */
  readonly onSearch: (text: string) => void;
}

export const Search = ({ label, value, onSearch }: SearchProps) => (
  <div class="search" role="search">
    <Icon name="search" />
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      spellcheck={false}
      onInput={(event) => onSearch(event.currentTarget.value)}
    />
  </div>
);

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

/** A choice that selects entries. The first option selects all. */
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

type StateFilterProps<T> = Pick<FilterSelectProps<T>, 'list' | 'options'> & { readonly all?: string };

export const StateFilter = <T,>({ all = text.general.allStates, ...rest }: StateFilterProps<T>) => (
  <FilterSelect name="state" label={text.general.state} all={all} {...rest} />
);

interface ClearFiltersProps<T> {
  readonly list: List<T>;
  readonly kind?: 'link' | 'plain';
}

export const ClearFilters = <T,>({ list, kind = 'plain' }: ClearFiltersProps<T>) => (
  <Button kind={kind} onClick={list.clearFilters}>
    {text.general.clearFilters}
  </Button>
);

interface ListHeaderProps<T> {
  readonly list: List<T>;
  readonly children: ComponentChildren;
}

export const ListHeader = <T,>({ list, children }: ListHeaderProps<T>) => (
  <div class="list-header">
    {children}
    {list.hasFilters && <ClearFilters list={list} kind="link" />}
  </div>
);
