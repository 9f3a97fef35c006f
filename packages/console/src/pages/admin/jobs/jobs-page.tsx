/** The jobs of the outbox: how many wait, and why some fail. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../../api.ts';
import { useList } from '../../../list.ts';
import { Badge } from '../../../parts/badge.tsx';
import { FilterSelect, ListHeader, StateFilter } from '../../../parts/list-header.tsx';
import { Empty } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/paged-table.tsx';
import { ServerText } from '../../../parts/server-text.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { firstMatches } from '../bounded-search.ts';
import { NextAttempt } from '../next-attempt.tsx';
import { jobKindLabel } from './job-kind.ts';

type Outbox = ResponseOf<'GET /admin/outbox'>;
type Job = Outbox['jobs'][number];

const kindNames = ['mail', 'decoy', 'sign_up', 'password_reset', 'webhook'] as const;
const stateNames = ['waiting', 'failing'] as const;

export function JobsPage() {
  const texts = adminText.jobs;
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
    <Page title={adminText.general.jobs} intro={texts.intro}>
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
          label={texts.list}
          keyOf={({ id }) => id}
          columns={columns()}
          empty={<Empty title={texts.none} icon="success" />}
        />
      </div>
    </Page>
  );
}

function kindColumns(): readonly Column<Outbox['kinds'][number]>[] {
  const texts = adminText.jobs;
  return [
    { label: adminText.general.kind, cell: ({ kind }) => jobKindLabel(kind) },
    { label: texts.count, align: 'end', cell: ({ count }) => count },
    { label: texts.oldest, priority: 'below', cell: ({ oldestAt }) => <Time at={oldestAt} /> },
  ];
}

function columns(): readonly Column<Job>[] {
  const { general, jobs } = adminText;
  return [
    { label: general.kind, cell: ({ kind }) => jobKindLabel(kind) },
    {
      label: text.general.state,
      priority: 'below',
      cell: ({ lastFailure }) =>
        lastFailure === null ? (
          <Badge>{jobs.states.waiting}</Badge>
        ) : (
          <Badge tone="warning">{jobs.states.failing}</Badge>
        ),
    },
    { label: general.reason, priority: 'below', cell: ({ lastFailure }) => <ServerText>{lastFailure}</ServerText> },
    { label: general.attempts, priority: 'medium', align: 'end', cell: ({ attempts }) => attempts },
    { label: general.nextAttempt, priority: 'medium', cell: ({ nextAttemptAt }) => <NextAttempt at={nextAttemptAt} /> },
    { label: text.general.created, priority: 'low', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}
