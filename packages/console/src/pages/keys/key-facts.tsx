/** What is stored about a key. */
import { formatNumber } from '../../format.ts';
import { Chips } from '../../parts/chips.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Facts, type Fact } from '../../parts/facts.tsx';
import { Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/text.ts';
import type { KeyDetails } from './key-owner.ts';
import { KeyState } from './key-state.tsx';

export function KeyFacts({ of }: { readonly of: KeyDetails }) {
  const { publicKey, trust, program, metadata, addresses } = of;
  const time = (at: string | null) => <Time at={at} as="dateTime" />;
  return (
    <Section title={text.general.details}>
      <Facts
        facts={[
          [text.general.state, <KeyState key="state" of={of} />],
          publicKey
            ? [
                text.keys.publicKey,
                <>
                  {publicKey.crv} <code>{publicKey.x}</code> <span class="muted">{text.keys.publicKeyIntro}</span>
                </>,
              ]
            : [text.keys.hint, trust ? undefined : <code key="hint">{of.hint}</code>],
          [
            text.keys.program,
            program && (
              <>
                <bdi>{program.name}</bdi> <code>{program.id}</code>
              </>
            ),
          ],
          [text.keys.scopes, <Chips key="scopes" values={of.scopes} none={text.general.none} />],
          [text.keys.environment, of.environment ?? undefined],
          [text.general.created, time(of.createdAt)],
          [text.general.changed, time(of.updatedAt)],
          [text.keys.expires, time(of.expiresAt)],
          [text.general.lastUsed, time(of.lastUsedAt)],
          [text.keys.usedFrom, of.lastUsedFrom ?? undefined],
          [text.keys.addresses, <Chips key="addresses" values={addresses ?? []} none={text.keys.anyAddress} />],
          ...limitFacts(of),
          [text.keys.id, <code key="id">{of.id}</code>],
          [
            text.keys.metadata,
            metadata && Object.keys(metadata).length > 0 ? (
              <CodeBlock key="metadata" label={text.keys.metadata} code={JSON.stringify(metadata, null, 2)} />
            ) : undefined,
          ],
        ]}
      />
    </Section>
  );
}

/** The limits of a key or of an account, and how much of the quota is used. */
export function limitFacts({ limits, quotaUse }: Pick<KeyDetails, 'limits' | 'quotaUse'>): Fact[] {
  const { rate, quota } = limits ?? {};
  return [
    [
      text.keys.rate,
      rate
        ? text.keys.rateOf(
            formatNumber(rate.limit),
            formatNumber(rate.windowSeconds),
            formatNumber(rate.burst ?? rate.limit),
          )
        : text.general.none,
    ],
    [
      text.keys.quota,
      quota ? (
        <>
          {text.keys.quotaOf(formatNumber(quotaUse?.used ?? 0), formatNumber(quota.limit), text.keys.per[quota.per])}{' '}
          {quotaUse?.resetsAt && (
            <span class="muted">
              {text.keys.resets} <Time at={quotaUse.resetsAt} />
            </span>
          )}
        </>
      ) : (
        text.general.none
      ),
    ],
  ];
}
