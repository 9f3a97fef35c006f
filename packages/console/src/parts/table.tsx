/** A table in a region that scrolls sideways on narrow screens. The first column names the row. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface Column<T> {
  readonly label: string;
  readonly cell: (row: T, index: number) => ComponentChildren;
  /** The value of the query parameter `sort`, for columns that the server can order. */
  readonly sort?: string;
  /** `end`: numbers and buttons. */
  readonly align?: 'end';
  /**
   * Shown only where there is room: from 48 rem (`medium`), 64 rem (`low`) or 84 rem (`lowest`) on. `below`: a column from 48 rem
   * on, otherwise below the name of the row.
   */
  readonly priority?: 'below' | 'medium' | 'low' | 'lowest';
  /** The label is only for screen readers. */
  readonly isLabelHidden?: boolean;
}

export interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string | number;
  /** The present order: the `sort` of a column, with `-` before it if descending. */
  readonly sort?: string;
  readonly onSort?: (sort: string) => void;
}

/** A page can state another width from which on its tables have columns (and its style sheet has the same one). */
const { columnsFrom = '48rem' } = document.documentElement.dataset;
const narrow = matchMedia(`(width < ${columnsFrom})`);
const isNarrow = signal(narrow.matches);
narrow.addEventListener('change', () => void (isNarrow.value = narrow.matches));

export function Table<T>({ label, columns: all, rows, keyOf, sort = '', onSort }: TableProps<T>) {
  const region = useRef<HTMLDivElement>(null);
  const isFocusInside = useRef(false);
  const count = useRef(rows.length);
  useLayoutEffect(() => {
    // The row with the focus was removed.
    if (rows.length < count.current && isFocusInside.current && document.activeElement === document.body)
      region.current?.focus();
    count.current = rows.length;
  }, [rows.length]);
  // As an object: the region has no action of its own, and has to be reachable by keyboard, because it scrolls.
  const attributes = {
    tabIndex: 0,
    onFocusIn: () => void (isFocusInside.current = true),
    // Without a related target, the element was removed, or the person clicked beside it.
    onFocusOut: (event: FocusEvent) => void (isFocusInside.current = event.relatedTarget === null),
  };
  const isBelow = ({ priority }: Column<T>): boolean => priority === 'below' && isNarrow.value;
  const below = all.filter(isBelow);
  const columns = all.filter((column) => !isBelow(column));
  const classOf = ({ align, priority }: Column<T>): string => `${align ?? ''} ${priority ?? ''}`.trim();
  const orderOf = (name: string | undefined): 'ascending' | 'descending' | undefined =>
    name === undefined ? undefined : sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined;
  return (
    <div ref={region} class="scroll" role="group" aria-label={label} {...attributes}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => {
              const order = orderOf(column.sort);
              return (
                <th scope="col" class={classOf(column)} aria-sort={order} key={column.label}>
                  {column.sort && onSort ? (
                    <button
                      type="button"
                      class="sort"
                      onClick={() => onSort(order === 'ascending' ? `-${column.sort}` : column.sort!)}
                    >
                      {column.label}
                      <span aria-hidden="true">{order === 'ascending' ? '↑' : order ? '↓' : '↕'}</span>
                    </button>
                  ) : (
                    <span class={column.isLabelHidden ? 'visually-hidden' : ''}>{column.label}</span>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row)}>
              {columns.map((column, place) => {
                const Cell = place ? 'td' : 'th';
                return (
                  <Cell scope={place ? undefined : 'row'} class={classOf(column)} key={column.label}>
                    {column.cell(row, index)}
                    {!place && below.length > 0 && (
                      <div class="below">
                        {below.map(({ cell, label: key }) => (
                          <span key={key}>{cell(row, index)}</span>
                        ))}
                      </div>
                    )}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
