/** Which entries of a list are shown, buttons for the other pages, and the size of a page. */
import type { TargetedMouseEvent } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { formatNumber } from '../format.ts';
import type { List, Total } from '../list.ts';
import { text } from '../text/text.ts';
import { announce } from './announce.tsx';
import { Button } from './button.tsx';

const sizes = ['20', '50', '100'];

interface PagerProps<T> {
  readonly list: List<T>;
  /** The size that the list requests without `limit` in the URL. */
  readonly defaultSize?: string;
}

export function Pager<T>({ list, defaultSize = '100' }: PagerProps<T>) {
  const { first, next, previous, query, change, value } = list;
  const count = value?.items.length ?? 0;
  const range = rangeOf(first, first + count - 1, value?.total, next !== undefined);
  const sentence = count > 0 ? range : text.general.noMatch;
  const announced = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    if (!value) return;
    if (announced.current !== undefined && announced.current !== sentence) announce(sentence);
    announced.current = sentence;
  });
  if (count === 0 && !previous && !next) return null;
  if (!previous && !next && count <= Number(sizes[0])) return <p class="pager muted hint">{range}</p>;
  return (
    <div class="pager">
      <p class="muted hint">{count > 0 && range}</p>
      <label class="hint">
        {text.general.pageSize}
        <select value={query['limit'] ?? defaultSize} onChange={(event) => change('limit', event.currentTarget.value)}>
          {sizes.map((size) => (
            <option key={size}>{size}</option>
          ))}
        </select>
      </label>
      <div class="actions">
        <Button disabled={!previous} {...(previous && { onClick: once(previous) })}>
          {text.general.previous}
        </Button>
        <Button disabled={!next} {...(next && { onClick: once(next) })}>
          {text.general.next}
        </Button>
      </div>
    </div>
  );
}

/** The server counts up to this number. */
const countedMax = 10_000;

function rangeOf(first: number, last: number, total: Total | undefined, hasMore: boolean): string {
  const range = `${formatNumber(first)}–${formatNumber(last)}`;
  // Entries were added or deleted since the first page, or the search for matches stopped before the last one shown.
  const isUsable =
    total !== undefined && (total.isExact ? hasMore === last < total.count : hasMore && total.count >= last);
  if (!isUsable) return hasMore ? text.general.rangeAndMore(range) : range;
  const count = formatNumber(total.count);
  if (total.isExact) return text.general.rangeOf(range, count);
  return total.count === countedMax
    ? text.general.rangeOfMore(range, count)
    : text.general.rangeOfAtLeast(range, count);
}

/** The second click of a double click has no effect, also when the response to the first one has arrived before it. */
const once =
  (act: () => void) =>
  ({ detail }: TargetedMouseEvent<HTMLButtonElement>): void => {
    // By keyboard it is 0.
    if (detail !== 2) act();
  };
