/** Mail and other jobs of the outbox: how many wait, why some fail; and a test mail. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../../api.ts';
import { useList, type List } from '../../../list.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { FilterSelect } from '../../../parts/filter-select.tsx';
import { ListHeader } from '../../../parts/list-header.tsx';
import { Empty, Loaded } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { Pager } from '../../../parts/pager.tsx';
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
    ({ cursor: start, kind, state, limit }, signal) =>
      firstMatches(async (cursor) => {
        const query = {
          ...(kind && { kind: kind as (typeof kindNames)[number] }),
          ...(state && { state: state as (typeof stateNames)[number] }),
          ...(limit && { limit }),
          ...(cursor && { cursor }),
        };
        const { jobs, nextCursor, kinds: counted } = await call('GET /admin/outbox', { query, signal });
        kinds.value = counted;
        return { items: jobs, nextCursor };
      }, start),
    { kind: kindNames, state: stateNames },
  );
  return (
    <Page
      title={texts.title}
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
        <Filters list={list} />
        <Loaded of={list} rows={4}>
          {({ items }) =>
            items.length > 0 ? (
              <Table label={texts.jobs} rows={items} keyOf={({ id }) => id} columns={columns()} />
            ) : list.isEmpty ? (
              <Empty title={texts.none} icon="success" />
            ) : (
              <Empty title={text.general.noMatch} icon="search">
                <Button onClick={list.clearFilters}>{text.general.clearFilters}</Button>
              </Empty>
            )
          }
        </Loaded>
        <Pager list={list} defaultSize="100" />
      </div>
      {isTesting.value && <TestMailDialog onClose={() => void (isTesting.value = false)} />}
    </Page>
  );
}

const Filters = ({ list }: { readonly list: List<Job> }) => (
  <ListHeader>
    <FilterSelect
      list={list}
      name="kind"
      label={adminText.mail.kind}
      all={adminText.mail.allKinds}
      options={adminText.mail.kinds}
    />
    <FilterSelect
      list={list}
      name="state"
      label={adminText.mail.state}
      all={adminText.mail.allStates}
      options={adminText.mail.states}
    />
    {list.hasFilters && (
      <Button kind="link" onClick={list.clearFilters}>
        {text.general.clearFilters}
      </Button>
    )}
  </ListHeader>
);

function kindColumns(): readonly Column<Outbox['kinds'][number]>[] {
  const texts = adminText.mail;
  return [
    { label: texts.kind, cell: ({ kind }) => jobKindLabel(kind) },
    { label: texts.count, align: 'end', cell: ({ count }) => count },
    { label: texts.oldest, cell: ({ oldestAt }) => <Time at={oldestAt} /> },
  ];
}

function columns(): readonly Column<Job>[] {
  const texts = adminText.mail;
  return [
    { label: texts.kind, cell: ({ kind }) => jobKindLabel(kind) },
    {
      label: texts.state,
      priority: 'below',
      cell: ({ lastFailure }) =>
        lastFailure === null ? (
          <Badge>{texts.states.waiting}</Badge>
        ) : (
          <Badge tone="warning">{texts.states.failing}</Badge>
        ),
    },
    { label: texts.failure, priority: 'below', cell: ({ lastFailure }) => <ServerText>{lastFailure}</ServerText> },
    { label: texts.attempts, priority: 'medium', align: 'end', cell: ({ attempts }) => attempts },
    { label: texts.nextAttempt, priority: 'medium', cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} /> },
    { label: texts.created, priority: 'low', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}
