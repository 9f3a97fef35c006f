/** What went wrong with a request, with its request id and the time from which on the next attempt is allowed. */
import { secondsUntil } from '../clock.ts';
import { formatCountdown, formatTime } from '../format.ts';
import type { Problem } from '../problem.ts';
import { text } from '../text/text.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

interface ProblemNoticeProps {
  readonly problem: Problem;
  /** Default: that of the problem. */
  readonly sentence?: string | false;
  readonly onRetry?: () => void;
}

export function ProblemNotice({ problem, sentence, onRetry }: ProblemNoticeProps) {
  const { requestId } = problem.body;
  return (
    <Notice tone="error" role="alert">
      <p>
        {sentence || problem.sentence}
        {problem.retryAt > 0 && ` ${text.general.retryAt(formatTime(problem.retryAt))}`}
      </p>
      {problem.code === 'invalid_request' && <FieldSentences of={problem} />}
      {problem.status >= 500 && requestId && <p class="muted hint">{text.general.requestId(requestId)}</p>}
      {onRetry && <RetryButton at={problem.retryAt} onClick={onRetry} />}
    </Notice>
  );
}

/** Seen only if no field of the form shows one of them (forms.css). */
const FieldSentences = ({ of: { ofFields } }: { readonly of: Problem }) =>
  ofFields.length > 0 ? (
    <ul>
      {ofFields.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  ) : null;

function RetryButton({ at, onClick }: { readonly at: number; readonly onClick: () => void }) {
  const left = secondsUntil(at);
  return (
    <Button isSmall isBlocked={left > 0} onClick={onClick}>
      {left > 0 ? text.general.retryIn(formatCountdown(left)) : text.general.retry}
    </Button>
  );
}
