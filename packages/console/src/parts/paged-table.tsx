/** The table of a paged list, with what it shows without entries, and its pages. */
import type { ComponentChildren } from 'preact';
import type { List } from '../list.ts';
import { text } from '../text/text.ts';
import { ClearFilters } from './list-header.tsx';
import { Empty, Loaded } from './loaded.tsx';
import { Pager } from './pager.tsx';
import { Table, type TableProps } from './table.tsx';

interface PagedTableProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly list: List<T>;
  /** Rows of the skeleton. */
  readonly skeletonRows?: number;
  /** Entries that the list requests for a page without `limit` in the URL. */
  readonly defaultSize?: string;
  /** Entries of each page, if the person cannot choose. */
  readonly fixedSize?: number;
  /** Instead of the table, if the list has no entries, also without filters. */
  readonly empty?: ComponentChildren;
}

export const PagedTable = <T,>({
  list,
  skeletonRows = 3,
  defaultSize = '100',
  fixedSize,
  empty,
  ...table
}: PagedTableProps<T>) => (
  <>
    <Loaded of={list} rows={skeletonRows}>
      {({ items }) =>
        items.length > 0 ? (
          <Table {...table} rows={items} />
        ) : (
          (list.isEmpty && empty) || (
            <Empty title={text.general.noMatch} icon="search">
              <ClearFilters list={list} />
            </Empty>
          )
        )
      }
    </Loaded>
    <Pager list={list} defaultSize={defaultSize} fixedSize={fixedSize} />
  </>
);
