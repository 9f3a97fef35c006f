/** An instant: relative in the text, exact in the tooltip and for machines. */
import { formatDate, formatDateTime, formatRelative } from '../format.ts';
import { text } from '../text/text.ts';

interface TimeProps {
  /** ISO 8601; null: never. */
  readonly at: string | null;
  readonly as?: 'relative' | 'date' | 'dateTime';
}

export function Time({ at, as = 'relative' }: TimeProps) {
  if (at === null) return <span class="muted">{text.general.never}</span>;
  const shown = as === 'relative' ? formatRelative(at) : as === 'date' ? formatDate(at) : formatDateTime(at);
  return (
    <time dateTime={at} title={formatDateTime(at)}>
      {shown}
    </time>
  );
}
