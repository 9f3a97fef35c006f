/** Mail and other jobs of the outbox: how many wait, why some fail; and a test mail. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../../api.ts';
import { useList } from '../../../list.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { FilterSelect, ListHeader, StateFilter } from '../../../parts/list-header.tsx';
import { Empty } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/paged-table.tsx';
import { ServerText } from '../../../parts/server-text.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { config } from '../../../session.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { firstMatches } from '../bounded-search.ts';
import { jobKindLabel } from './job-kind.ts';
import { TestMailDialog } from './test-mail-dialog.tsx';

type Outbox = ResponseOf<'GET /admin/outbox'>;
type Job = Outbox['jobs'][number];

const kindNames = ['mail', 'decoy', 'sign_up', 'password_reset', 'webhook'] as const;
const stateNames = ['waiting', 'failing'] as const;

export function MailPage() {
  const isTesting = useSignal(false);
  const texts = adminText.mail;
  const kinds = useSignal<Outbox['kinds']>([]);
  const list = useList<Job>(
    ['kind', 'state'],
    firstMatches(async (query, signal) => {
      const { jobs, nextCursor, kinds: counted } = await call('GET /admin/outbox', { query, signal });
      kinds.value = counted;
      return { items: jobs, nextCursor };
    }),
    { kind: kindNames, state: stateNames },
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
        {kinds.value.length > 0 && (
          <Table label={texts.count} rows={kinds.value} keyOf={({ kind }) => kind} columns={kindColumns()} />
        )}
        <ListHeader list={list}>
          <FilterSelect
            list={list}
            name="kind"
            label={adminText.general.kind}
            all={adminText.general.allKinds}
            options={texts.kinds}
          />
          <StateFilter list={list} options={texts.states} />
        </ListHeader>
        <PagedTable
          list={list}
          skeletonRows={4}
          label={texts.jobs}
          keyOf={({ id }) => id}
          columns={columns()}
          empty={<Empty title={texts.none} icon="success" />}
        />
      </div>
      {isTesting.value && <TestMailDialog onClose={() => void (isTesting.value = false)} />}
    </Page>
  );
}

function kindColumns(): readonly Column<Outbox['kinds'][number]>[] {
  const texts = adminText.mail;
  return [
    { label: adminText.general.kind, cell: ({ kind }) => jobKindLabel(kind) },
    { label: texts.count, align: 'end', cell: ({ count }) => count },
    { label: texts.oldest, cell: ({ oldestAt }) => <Time at={oldestAt} /> },
  ];
}

function columns(): readonly Column<Job>[] {
  const texts = adminText.mail;
  return [
    { label: adminText.general.kind, cell: ({ kind }) => jobKindLabel(kind) },
    {
      label: text.general.state,
      priority: 'below',
      cell: ({ lastFailure }) =>
        lastFailure === null ? (
          <Badge>{texts.states.waiting}</Badge>
        ) : (
          <Badge tone="warning">{texts.states.failing}</Badge>
        ),
    },
    { label: texts.failure, priority: 'below', cell: ({ lastFailure }) => <ServerText>{lastFailure}</ServerText> },
    { label: adminText.general.attempts, priority: 'medium', align: 'end', cell: ({ attempts }) => attempts },
    { label: texts.nextAttempt, priority: 'medium', cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} /> },
    { label: text.general.created, priority: 'low', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}
