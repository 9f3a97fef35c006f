/** Stands for content that has not arrived. Invisible for a moment, so that fast responses cause no flicker. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { text } from '../text/text.ts';

const delayMs = 200;

interface SkeletonProps {
  readonly rows: number;
  /** Of a whole page, with its heading. */
  readonly isPage?: boolean;
}

export function Skeleton({ rows, isPage = false }: SkeletonProps) {
  const isShown = useSignal(false);
  useSignalEffect(() => {
    const timer = setTimeout(() => (isShown.value = true), delayMs);
    return () => clearTimeout(timer);
  });
  return (
    <div class={`skeleton${isPage ? ' page' : ''}${isShown.value ? '' : ' invisible'}`} aria-busy={isPage}>
      <span class="visually-hidden">{text.general.loading}</span>
      {isPage && <div class="bone title" />}
      {Array.from({ length: rows }, (_, row) => (
        <div class="skeleton-row" key={row} />
      ))}
    </div>
  );
}
