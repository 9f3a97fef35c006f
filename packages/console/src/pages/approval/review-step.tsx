/** The second step: which program asks, and for what. The person narrows it, and approves or denies. */
import { useLayoutEffect } from 'preact/hooks';
import { localTime, secondsUntil } from '../../clock.ts';
import { Fields } from '../../fields.ts';
import { formatCountdown } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Form } from '../../parts/form.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';
import { useAction, type Action } from '../../resource.ts';
import { session } from '../../session.ts';
import { approvalText } from '../../text/approval-text.ts';
import { text } from '../../text/text.ts';
import { NicknameField } from '../keys/key-fields.tsx';
import { formatDuration, LifetimeField, lifetimeOf, usualLifetimes } from '../keys/lifetime-field.tsx';
import { ScopeChoices, scopesOf } from '../keys/scopes-field.tsx';
import { approve, choices, choose, deny, endExpired, type Choices, type Found } from './flow.ts';

interface StepProps {
  readonly found: Found;
}

export function ReviewStep({ found }: StepProps) {
  const { program, isOwnRange } = found.approval;
  // Only the newest failure is shown.
  const approval: Action<[Fields]> = useAction((fields: Fields) => {
    denial.clear();
    return approve(found, choicesOf(fields));
  });
  const denial = useAction(() => {
    approval.clear();
    return deny(found);
  });
  return (
    <Page
      title={approvalText.reviewTitle(program.name)}
      intro={approvalText.reviewIntro(session.value?.account.email ?? '')}
    >
      {!isOwnRange && <Notice tone="warning">{approvalText.otherRange}</Notice>}
      <RequestSection found={found} />
      <Section title={approvalText.key}>
        <Form
          action={approval}
          submit={approvalText.approve}
          others={
            <Button action={denial} isBlocked={denial.isRunning || approval.isRunning}>
              {approvalText.deny}
            </Button>
          }
        >
          <RightFields found={found} />
          {denial.problem && <ProblemNotice problem={denial.problem} onRetry={() => void denial.run()} />}
        </Form>
      </Section>
    </Page>
  );
}

const RequestSection = ({ found }: StepProps) => {
  const { program, clientRange, isOwnRange, createdAt } = found.approval;
  return (
    <Section title={approvalText.request}>
      <Facts
        facts={[
          [
            approvalText.program,
            <>
              <bdi>{program.name}</bdi> <code>{program.id}</code>
            </>,
          ],
          [
            approvalText.clientRange,
            <>
              <span class="code">{clientRange}</span>{' '}
              {isOwnRange && <span class="muted">({approvalText.ownRange})</span>}
            </>,
          ],
          [approvalText.requested, <Time at={createdAt} key="requested" />],
          [approvalText.code, <code key="code">{found.code}</code>],
          [approvalText.codeEnds, <TimeLeft found={found} key="left" />],
        ]}
      />
    </Section>
  );
};

function TimeLeft({ found }: StepProps) {
  // The server's time may come with it.
  void session.value;
  const left = secondsUntil(localTime(found.approval.expiresAt));
  const isOver = left === 0;
  useLayoutEffect(() => {
    if (isOver) void endExpired(found);
  }, [isOver, found]);
  return <>{formatCountdown(left)}</>;
}

const choicesOf = (fields: Fields): Choices => ({
  nickname: fields.text('nickname').trim(),
  scopes: scopesOf(fields) ?? [],
  lifetimeSeconds: lifetimeOf(fields),
});

/** What the program gets, at most what it has requested. Each change is kept, in case the person must sign in again. */
function RightFields({ found }: StepProps) {
  const { approval, scopes } = found;
  const longest = approval.lifetimeSeconds;
  const kept = choices.peek();
  const grantable = scopes.filter(({ mayGrant }) => mayGrant).map(({ name }) => name);
  return (
    <div
      class="form"
      onInput={({ currentTarget }) => choose(found, choicesOf(new Fields(currentTarget.closest('form')!)))}
    >
      <NicknameField
        label={text.keys.nickname}
        current={kept?.nickname ?? approval.nickname}
        hint={approvalText.nicknameHint}
      />
      <ScopeChoices
        choices={scopes.map((scope) => (scope.mayGrant ? scope : { ...scope, description: approvalText.notGrantable }))}
        current={kept?.scopes ?? grantable}
        hint={approvalText.scopesHint}
        none={approvalText.noScopes}
      />
      <LifetimeField
        label={approvalText.lifetime}
        lifetimes={[...usualLifetimes.filter((seconds) => seconds < longest), longest]}
        current={kept?.lifetimeSeconds ?? longest}
        labelOf={(seconds) =>
          seconds === longest ? approvalText.longest(formatDuration(seconds)) : formatDuration(seconds)
        }
      />
    </div>
  );
}
