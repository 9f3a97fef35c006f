/** A paged list. Filters, order and page size are in the URL of the view; the cursors of earlier pages are in memory. */
import { batch, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useNavigation } from './navigation.ts';
import { useResource, type Resource } from './resource.ts';

/** Number of entries of all pages. */
export interface Total {
  readonly count: number;
  /** Otherwise there are at least this many. */
  readonly isExact: boolean;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
  /** Of the first page, if the list has one. */
  readonly total?: Total | undefined;
}

/** Query parameters that only the request for the first page has: it asks for the total. */
export type FirstQuery = { readonly total?: 'true' };

/** @param first for lists whose API has totals */
export type LoadPage<T> = (query: ListQuery, signal: AbortSignal, first: FirstQuery) => Promise<ListPage<T>>;

/** Of each page up to the one that is shown. */
type Positions = readonly { readonly cursor?: string; readonly first: number }[];

/** The list is requested when the person stops typing. */
const typingPauseMs = 250;

export type ListQuery = Readonly<Record<string, string | undefined>>;

export interface List<T> extends Resource<
  ListPage<T> & { readonly positions: Positions; readonly isFiltered: boolean }
> {
  /** Filters, `sort` and `limit` of the URL. An absent one is undefined. */
  readonly query: ListQuery;
  /** Changes a filter, `sort` or `limit`, and shows the first page. An empty value removes it. */
  readonly change: (name: string, value: string) => void;
  /** What the person has typed, and the filter `search` a moment later. */
  readonly searchText: string;
  readonly search: (text: string) => void;
  readonly hasFilters: boolean;
  /** There are no entries, also without filters. */
  readonly isEmpty: boolean;
  readonly clearFilters: () => void;
  /** The number of the first entry of the page, from 1. */
  readonly first: number;
  /** Undefined on the first page. */
  readonly previous: (() => void) | undefined;
  /** Undefined on the last page. */
  readonly next: (() => void) | undefined;
}

/**
 * @param filters names of the query parameters that select entries
 * @param choices values of a query parameter that has no others, or whether it can have a value; the URL may have been edited
 * @param load requests one page; its query has the values of the URL and `cursor`
 */
export function useList<T>(
  filters: readonly string[],
  load: LoadPage<T>,
  choices: Readonly<Record<string, readonly string[] | ((value: string) => boolean)>> = {},
): List<T> {
  const { query: given, path, route } = useNavigation();
  const newest = useRef(given);
  newest.current = given;
  const allowed: typeof choices = { sort: [], ...choices };
  const names = [...filters, 'sort', 'limit'];
  const isAllowed = (name: string, value: string): boolean => {
    const allowance = allowed[name] ?? (() => true);
    return typeof allowance === 'function' ? allowance(value) : allowance.includes(value);
  };
  const queryOf = (values: ListQuery): Record<string, string> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = values[name];
        return value && isAllowed(name, value) ? [[name, value]] : [];
      }),
    );
  const query = queryOf(given);
  const search = new URLSearchParams(query).toString();
  const wanted = useSignal(search);
  /** Up to the page that is wanted. */
  const pages = useSignal<Positions>([{ first: 1 }]);
  useLayoutEffect(() => {
    if (wanted.peek() === search) return;
    batch(() => {
      wanted.value = search;
      pages.value = [{ first: 1 }];
    });
  });

  /** The newest total of these filters: later pages have none. */
  const total = useRef<Total | undefined>(undefined);
  const isFiltered = (of: ListQuery): boolean => filters.some((name) => of[name]);
  const resource = useResource(async (signal) => {
    const values = Object.fromEntries(new URLSearchParams(wanted.value));
    let positions = pages.value;
    const loadAt = async (at: Positions): Promise<ListPage<T>> => {
      const cursor = at.at(-1)?.cursor;
      const loaded = await load({ ...values, cursor }, signal, cursor === undefined ? { total: 'true' } : {});
      if (cursor === undefined) total.current = loaded.total;
      return loaded;
    };
    let page = await loadAt(positions);
    // The last entries of the page were deleted.
    while (page.items.length === 0 && positions.length > 1) {
      positions = positions.slice(0, -1);
      page = await loadAt(positions);
    }
    const counted: ListPage<T> = { ...page, total: total.current };
    return { ...counted, positions, isFiltered: isFiltered(values) };
  });
  const go = (next: ListQuery): void => {
    const params = new URLSearchParams(Object.entries(next).flatMap(([name, value]) => (value ? [[name, value]] : [])));
    route(params.size > 0 ? `${path}?${params}` : path, true);
  };
  const typed = useSignal<string>();
  const timer = useRef(0);
  const stopSearch = (): void => {
    clearTimeout(timer.current);
    typed.value = undefined;
  };
  useLayoutEffect(
    () => () => {
      clearTimeout(timer.current);
      typed.value = undefined;
    },
    [path, typed],
  );
  const { value, isLoading } = resource;
  // Of the page that is shown: another one may be loading.
  const positions = value?.positions ?? [{ first: 1 }];
  const first = positions.at(-1)?.first ?? 1;
  const cursor = value?.nextCursor;
  const show = (next: Positions) => (): void => {
    if (!isLoading) pages.value = next;
  };
  return {
    ...resource,
    query,
    change: (name, next) => {
      const searched = typed.peek();
      stopSearch();
      go({ ...query, ...(searched !== undefined && { search: searched }), [name]: next });
    },
    searchText: typed.value ?? query['search'] ?? '',
    search: (next) => {
      typed.value = next;
      clearTimeout(timer.current);
      timer.current = window.setTimeout(() => {
        // Another filter may have changed since.
        go({ ...queryOf(newest.current), search: next });
        typed.value = undefined;
      }, typingPauseMs);
    },
    hasFilters: isFiltered(query),
    // Of the shown page: a change of the filters has not loaded the next one yet.
    isEmpty: value?.items.length === 0 && positions.length < 2 && !value.isFiltered,
    clearFilters: () => {
      stopSearch();
      go({ ...query, ...Object.fromEntries(filters.map((name) => [name, ''])) });
    },
    first,
    previous: positions.length > 1 ? show(positions.slice(0, -1)) : undefined,
    next: cursor ? show([...positions, { cursor, first: first + value.items.length }]) : undefined,
  };
}
