/** The mail of the last 30 days: recipients, purposes and results; and a test mail. */
import { useSignal } from '@preact/signals';
import { call, type RequestOf, type ResponseOf } from '../../../api.ts';
import { useList } from '../../../list.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { FilterField } from '../../../parts/filter-field.tsx';
import { FilterSelect, ListHeader, StateFilter } from '../../../parts/list-header.tsx';
import { Empty } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/paged-table.tsx';
import { ServerText } from '../../../parts/server-text.tsx';
import type { Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { config } from '../../../session.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { accountPath } from '../accounts/account.tsx';
import { firstMatches } from '../bounded-search.ts';
import { NextAttempt } from '../next-attempt.tsx';
import { TestMailDialog } from './test-mail-dialog.tsx';

type Query = NonNullable<RequestOf<'GET /admin/mail'>['query']>;
type Mail = ResponseOf<'GET /admin/mail'>['mails'][number];

const states = ['waiting', 'delivered', 'failed'] as const;
const tones = { waiting: 'warning', delivered: 'good', failed: 'bad' } as const;
/** Of an email address. */
const charsMax = 254;

export function MailPage() {
  const isTesting = useSignal(false);
  const texts = adminText.mail;
  const list = useList<Mail>(
    ['to', 'purpose', 'state'],
    firstMatches(async (query, signal) => {
      const { mails, nextCursor } = await call('GET /admin/mail', {
        query: { limit: '50', ...(query as Query) },
        signal,
      });
      return { items: mails, nextCursor };
    }),
    { to: (value) => value.length <= charsMax, purpose: Object.keys(texts.purposes), state: states },
  );
  return (
    <Page
      title={adminText.general.mail}
      intro={texts.intro}
      actions={
        config.value?.features.mail && (
          <Button kind="primary" onClick={() => void (isTesting.value = true)}>
            {texts.test}
          </Button>
        )
      }
    >
      <div class="list">
        <ListHeader list={list}>
          <FilterField
            list={list}
            name="to"
            label={texts.recipient}
            pattern={`.{1,${charsMax}}`}
            placeholder="ada@example.com"
          />
          <FilterSelect
            list={list}
            name="purpose"
            label={texts.purpose}
            all={texts.allPurposes}
            options={texts.purposes}
          />
          <StateFilter list={list} options={texts.states} />
        </ListHeader>
        <PagedTable
          list={list}
          skeletonRows={6}
          defaultSize="50"
          label={adminText.general.mail}
          keyOf={({ id }) => id}
          columns={columns()}
          empty={<Empty title={texts.none} />}
        />
      </div>
      {isTesting.value && <TestMailDialog onClose={() => void (isTesting.value = false)} />}
    </Page>
  );
}

function columns(): readonly Column<Mail>[] {
  const { general, mail } = adminText;
  return [
    {
      label: mail.recipient,
      cell: ({ to, accountId }) => (
        <a class="account-name" href={accountPath(accountId)}>
          <bdi>{to}</bdi>
        </a>
      ),
    },
    {
      label: mail.purpose,
      priority: 'below',
      // An instance of another version may have other purposes.
      cell: ({ purpose }) => (mail.purposes as Readonly<Record<string, string>>)[purpose] ?? purpose,
    },
    {
      label: text.general.state,
      priority: 'below',
      cell: ({ state }) => <Badge tone={tones[state]}>{mail.states[state]}</Badge>,
    },
    { label: general.reason, priority: 'below', cell: ({ lastFailure }) => <ServerText>{lastFailure}</ServerText> },
    { label: general.nextAttempt, priority: 'low', cell: ({ nextAttemptAt }) => <NextAttempt at={nextAttemptAt} /> },
    { label: text.general.created, priority: 'below', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}
