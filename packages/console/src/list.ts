/** A paged list. Filters, order and page size are in the URL; the cursors of earlier pages are in memory. */
import { batch, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useResource, type Resource } from './resource.ts';

interface ListPage<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** The list is requested when the person stops typing. */
const typingPauseMs = 250;

export type ListQuery = Readonly<Record<string, string | undefined>>;

export interface List<T> extends Resource<ListPage<T>> {
  /** Filters, `sort` and `limit` of the URL. An absent one is undefined. */
  readonly query: ListQuery;
  /** Changes a filter, `sort` or `limit`, and shows the first page. An empty value removes it. */
  readonly change: (name: string, value: string) => void;
  /** What the person has typed, and the filter `search` a moment later. */
  readonly searchText: string;
  readonly search: (text: string) => void;
  readonly hasFilters: boolean;
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
 * @param load requests one page; its query has the values of the URL and `cursor`
 */
export function useList<T>(
  filters: readonly string[],
  load: (query: ListQuery, signal: AbortSignal) => Promise<ListPage<T>>,
): List<T> {
  const { query: given, path, route } = useLocation();
  const names = [...filters, 'sort', 'limit'];
  const queryOf = (values: ListQuery): Record<string, string> =>
    Object.fromEntries(names.flatMap((name) => (values[name] ? [[name, values[name]]] : [])));
  const query = queryOf(given);
  const search = new URLSearchParams(query).toString();
  const wanted = useSignal(search);
  /** Of the pages before this one, and of this one. */
  const pages = useSignal<readonly { readonly cursor?: string; readonly first: number }[]>([{ first: 1 }]);
  useLayoutEffect(() => {
    if (wanted.peek() === search) return;
    batch(() => {
      wanted.value = search;
      pages.value = [{ first: 1 }];
    });
  });

  const resource = useResource((signal) =>
    load({ ...Object.fromEntries(new URLSearchParams(wanted.value)), cursor: pages.value.at(-1)?.cursor }, signal),
  );
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
  const first = pages.value.at(-1)?.first ?? 1;
  const { value } = resource;
  const cursor = value?.nextCursor;
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
        go({ ...queryOf(Object.fromEntries(new URLSearchParams(location.search))), search: next });
        typed.value = undefined;
      }, typingPauseMs);
    },
    hasFilters: filters.some((name) => name in query),
    clearFilters: () => {
      stopSearch();
      go({ ...query, ...Object.fromEntries(filters.map((name) => [name, ''])) });
    },
    first,
    previous: pages.value.length > 1 ? () => void (pages.value = pages.value.slice(0, -1)) : undefined,
    next: cursor
      ? () => void (pages.value = [...pages.value, { cursor, first: first + value.items.length }])
      : undefined,
  };
}
