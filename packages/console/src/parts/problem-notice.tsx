/** What went wrong with a request, with its request id and a countdown until the next attempt is allowed. */
import { useSignal, useSignalEffect } from '@preact/signals';
import type { Problem } from '../problem.ts';
import { formatDuration } from '../format.ts';
import { text } from '../text/text.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

interface ProblemNoticeProps {
  readonly problem: Problem;
  readonly onRetry?: () => void;
}

export function ProblemNotice({ problem, onRetry }: ProblemNoticeProps) {
  const { requestId } = problem.body;
  return (
    <Notice tone="error" role="alert">
      <p>{problem.sentence}</p>
      {problem.retryAfterSeconds !== undefined && <Countdown seconds={problem.retryAfterSeconds} key={requestId} />}
      {problem.status >= 500 && requestId && <p class="muted">{text.general.requestId(requestId)}</p>}
      {onRetry && <Button onClick={onRetry}>{text.general.retry}</Button>}
    </Notice>
  );
}

function Countdown({ seconds }: { readonly seconds: number }) {
  const left = useSignal(seconds);
  useSignalEffect(() => {
    const end = Date.now() + seconds * 1000;
    const timer = setInterval(() => (left.value = Math.max(0, Math.ceil((end - Date.now()) / 1000))), 1000);
    return () => clearInterval(timer);
  });
  // Not in the live region: it would be read out every second.
  return left.value > 0 ? <p aria-live="off">{text.general.retryIn(formatDuration(left.value))}</p> : null;
}
