/** The last step: what became of the request. After an approval, it shows when the program has its key. */
import { useLayoutEffect } from 'preact/hooks';
import { call } from '../../api.ts';
import { useLive } from '../../live.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { useAction } from '../../resource.ts';
import { root } from '../../root.ts';
import { approvalText } from '../../text/approval-text.ts';
import { deny, endAbsent, endAs, endExpired, startAnew, type Found, type Outcome } from './flow.ts';

interface OutcomeStepProps {
  readonly outcome: Outcome;
  readonly found?: Found;
}

const tones = {
  approved: 'success',
  used: 'success',
  denied: 'info',
  expired: 'warning',
  removed: 'warning',
  others: 'warning',
  foreign: 'warning',
} as const;

export function OutcomeStep({ outcome, found }: OutcomeStepProps) {
  const { title, sentence } = approvalText.outcomes[outcome];
  const keyId = found?.approval.keyId;
  return (
    <Page title={title}>
      <div class="card">
        <Notice tone={tones[outcome]} role="status">
          {sentence}
        </Notice>
        <div class="actions">
          {outcome === 'approved' && found && <Approved found={found} />}
          {typeof keyId === 'number' && (
            <a class="button" href={`${root}/keys/${keyId}`}>
              {approvalText.openKey}
            </a>
          )}
          <Button onClick={startAnew}>{approvalText.another}</Button>
        </div>
      </div>
    </Page>
  );
}

/** Until the program has its key, the person can take the approval back. */
function Approved({ found }: { readonly found: Found }) {
  const { id } = found.approval;
  const { value, problem } = useLive((request) => call('GET /auth/approvals/:id', { params: { id }, ...request }));
  const isAbsent = problem?.code === 'approval_not_found';
  useLayoutEffect(() => {
    if (isAbsent) void endAbsent(found);
    else if (value && value.state !== 'approved') endAs(value, found);
    else if (value) void endExpired(found);
  }, [isAbsent, value, found]);
  const back = useAction(() => deny(found));
  return (
    <>
      <Button action={back}>{approvalText.takeBack}</Button>
      {back.problem && <ProblemNotice problem={back.problem} onRetry={() => void back.run()} />}
    </>
  );
}
