/** The last identity tokens of a key: accepted ones, and rejected ones beside the claims that the key trusts. */
import { Badge } from '../../../parts/badge.tsx';
import { CodeBlock } from '../../../parts/code-block.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Section } from '../../../parts/section.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useResource } from '../../../resource.ts';
import { text } from '../../../text/text.ts';
import { trustText } from '../../../text/trust-text.ts';
import type { KeyDetails, KeySource, KeyTokens, Trust } from '../key-owner.ts';
import { claimAt } from './claim-at.ts';
import { nameOf, shownValue } from './trust-section.tsx';

type Rejected = KeyTokens['rejected'][number];

interface TokensSectionProps {
  /** One that has this request. */
  readonly owner: Pick<KeySource, 'tokens'>;
  readonly of: Pick<KeyDetails, 'id' | 'trust'>;
}

export function TokensSection({ owner, of: { id, trust } }: TokensSectionProps) {
  const tokens = useResource((abort) => owner.tokens!(id, abort));
  return (
    <Loaded of={tokens} rows={4}>
      {({ accepted, rejected }) => (
        <div class="stack wide">
          <Section title={trustText.rejected} description={trustText.rejectedIntro}>
            {rejected.length === 0 && <p class="muted">{trustText.noneRejected}</p>}
            {rejected.map((token) => (
              <RejectedToken token={token} claims={trust?.claims ?? {}} key={token.at} />
            ))}
          </Section>
          <Section title={trustText.accepted}>
            {accepted.length === 0 ? (
              <p class="muted">{trustText.noneAccepted}</p>
            ) : (
              <Table label={trustText.accepted} rows={accepted} keyOf={({ at }) => at} columns={acceptedColumns()} />
            )}
          </Section>
        </div>
      )}
    </Loaded>
  );
}

const acceptedColumns = (): readonly Column<KeyTokens['accepted'][number]>[] => [
  { label: text.general.when, cell: ({ at }) => <Time at={at} as="dateTime" /> },
  {
    label: trustText.subject,
    priority: 'below',
    cell: ({ subject }) => <bdi class="code wrap">{subject ?? text.general.none}</bdi>,
  },
  { label: trustText.issuer, priority: 'low', cell: ({ issuer }) => <bdi class="code wrap">{issuer}</bdi> },
];

function RejectedToken({ token, claims }: { readonly token: Rejected; readonly claims: Trust['claims'] }) {
  return (
    <div class="stack tight">
      <p>
        <strong>
          <Time at={token.at} as="dateTime" />
        </strong>{' '}
        {trustText.reasons[token.reason]}
      </p>
      <Table
        label={trustText.claims}
        rows={Object.entries(claims)}
        keyOf={([pointer]) => pointer}
        columns={comparedColumns(token)}
      />
      <details>
        <summary>{trustText.allClaims}</summary>
        <CodeBlock label={trustText.allClaims} code={JSON.stringify(token.claims, null, 2)} />
      </details>
    </div>
  );
}

const comparedColumns = (token: Rejected): readonly Column<[pointer: string, value: unknown]>[] => [
  { label: trustText.claimName, cell: ([pointer]) => <code class="wrap">{nameOf(pointer)}</code> },
  { label: trustText.trusted, cell: ([, value]) => <bdi class="code wrap">{shownValue(value)}</bdi> },
  {
    label: trustText.inToken,
    cell: ([pointer, trusted]) => {
      const value = claimAt(token.claims, pointer);
      if (value === undefined) return <Badge tone="bad">{trustText.missing}</Badge>;
      const isEqual = value === trusted || (Array.isArray(value) && value.includes(trusted));
      return (
        <>
          <bdi class="code wrap">{shownValue(value)}</bdi> {!isEqual && <Badge tone="bad">{trustText.differs}</Badge>}
        </>
      );
    },
  },
];
