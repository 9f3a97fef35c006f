/** The line above a table: search, filters, and the number of rows. */
import type { ComponentChildren } from 'preact';
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

interface ListHeaderProps {
  readonly count?: string | undefined;
  readonly children: ComponentChildren;
}

export const ListHeader = ({ count, children }: ListHeaderProps) => (
  <div class="list-header">
    {children}
    {count && <span class="count">{count}</span>}
  </div>
);
