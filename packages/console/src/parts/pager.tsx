/** Which entries of a list are shown, buttons for the other pages, and the size of a page. */
import type { Ref, TargetedMouseEvent } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { formatNumber } from '../format.ts';
import type { List, Total } from '../list.ts';
import { text } from '../text/text.ts';
import { announce } from './announce.tsx';
import { Button } from './button.tsx';

/** The bar at the top of the window covers as much. */
const barPixels = 64;
const sizes = ['20', '50', '100'];

interface PagerProps<T> {
  readonly list: List<T>;
  /** The size that the list requests without `limit` in the URL. */
  readonly defaultSize?: string;
  /** If the person cannot choose. */
  readonly fixedSize?: number | undefined;
}

export function Pager<T>({ list, defaultSize = '100', fixedSize }: PagerProps<T>) {
  const { first, next, previous, query, change, value, problem } = list;
  const element = useRef<HTMLElement>(null);
  /** Whether the person has chosen another page, which has not arrived yet. */
  const isTurning = useRef(false);
  const count = value?.items.length ?? 0;
  const range = rangeOf(first, first + count - 1, value?.total, next !== undefined);
  const sentence = count > 0 ? range : text.general.noMatch;
  const announced = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    if (!value) return;
    if (announced.current !== undefined && announced.current !== sentence) announce(sentence);
    announced.current = sentence;
  });
  useLayoutEffect(() => {
    if (isTurning.current && !problem) showTop(element.current?.previousElementSibling);
    isTurning.current = false;
  }, [value, problem]);
  const turn = (page: (() => void) | undefined): object | undefined =>
    page && {
      onClick: once(() => {
        isTurning.current = true;
        page();
      }),
    };
  if (count === 0 && !previous && !next) return null;
  if (!previous && !next && count <= (fixedSize ?? Number(sizes[0]))) {
    return (
      <p class="pager muted hint" ref={element as Ref<HTMLParagraphElement>}>
        {range}
      </p>
    );
  }
  return (
    <div class="pager" ref={element as Ref<HTMLDivElement>}>
      <p class="muted hint">{count > 0 && range}</p>
      {!fixedSize && (
        <label class="hint">
          {text.general.pageSize}
          <select
            value={query['limit'] ?? defaultSize}
            onChange={(event) => change('limit', event.currentTarget.value)}
          >
            {sizes.map((size) => (
              <option key={size}>{size}</option>
            ))}
          </select>
        </label>
      )}
      <div class="actions">
        <Button disabled={!previous} {...turn(previous)}>
          {text.general.previous}
        </Button>
        <Button disabled={!next} {...turn(next)}>
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

/** Moves the focus to the table of the new page, and scrolls to its start if that is above the window. @param of contains the table */
function showTop(of: Element | null | undefined): void {
  const table = of?.querySelector<HTMLElement>('.scroll');
  table?.focus({ preventScroll: true });
  if (table && table.getBoundingClientRect().top < barPixels) table.scrollIntoView({ block: 'start' });
}

/** The second click of a double click has no effect, also when the response to the first one has arrived before it. */
const once =
  (act: () => void) =>
  ({ detail }: TargetedMouseEvent<HTMLButtonElement>): void => {
    // By keyboard it is 0.
    if (detail !== 2) act();
  };
