/** The trust of a key: its issuer and claims, and how a program uses it. */
import { Badge } from '../../../parts/badge.tsx';
import { CopiedCode } from '../../../parts/code-block.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { Section } from '../../../parts/section.tsx';
import { config } from '../../../session.ts';
import { text } from '../../../text/text.ts';
import { trustText } from '../../../text/trust-text.ts';
import type { KeyDetails, Trust } from '../key-owner.ts';
import { workflowStep, workloadOf } from './workload.ts';

export function UseSection({ of: { id, trust } }: { readonly of: KeyDetails }) {
  if (!trust) return null;
  return (
    <>
      <Section title={text.keys.use} description={trustText.stepIntro}>
        <WorkflowStep trust={trust} keyId={id} />
      </Section>
      <Section title={trustText.trust} description={trustText.trustIntro}>
        {trust.issuerState === 'removed' && <Notice tone="warning">{trustText.issuerRemoved}</Notice>}
        <Facts
          facts={[
            [
              trustText.issuer,
              <>
                <code>{trust.issuer}</code>{' '}
                <Badge tone={trust.issuerState === 'declared' ? 'good' : 'bad'}>
                  {trustText.issuerStates[trust.issuerState]}
                </Badge>
              </>,
            ],
            [trustText.audience, <code key="audience">{trust.audience}</code>],
            ...Object.entries(trust.claims).map(
              ([pointer, value]) => [nameOf(pointer), <code key={pointer}>{shownValue(value)}</code>] as const,
            ),
          ]}
        />
      </Section>
    </>
  );
}

interface WorkflowStepProps {
  readonly trust: Trust;
  readonly keyId: number;
}

export const WorkflowStep = ({ trust, keyId }: WorkflowStepProps) => (
  <CopiedCode
    label={trustText.step}
    code={workflowStep({
      workload: workloadOf(trust),
      keyId,
      publicUrl: config.value?.publicUrl ?? '',
      audience: trust.audience,
    })}
  />
);

/** The name of a claim of the token, otherwise its JSON pointer. */
export const nameOf = (pointer: string): string =>
  pointer.indexOf('/', 1) < 0 ? pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~') : pointer;

/** A text without quotation marks; others as JSON. */
export const shownValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
