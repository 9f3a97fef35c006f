/** The audit log, with filters, and the export of the filtered events. */
import { signal } from '@preact/signals';
import { nameAccounts } from '../../../account-names.ts';
import { call, download, type RequestOf, type ResponseOf } from '../../../api.ts';
import { useList, type List, type ListQuery } from '../../../list.ts';
import { AccountName } from '../../../parts/account-name.tsx';
import { CodeBlock } from '../../../parts/code-block.tsx';
import { FilterField } from '../../../parts/filter-field.tsx';
import { FilterSelect, ListHeader } from '../../../parts/list-header.tsx';
import { Menu } from '../../../parts/menu.tsx';
import { Page } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/paged-table.tsx';
import { ProblemNotice } from '../../../parts/problem-notice.tsx';
import type { Column } from '../../../parts/table.tsx';
import { useAction } from '../../../resource.ts';
import { saveFile } from '../../../save-file.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { AccountFilter, isAccountFilter } from '../account-filter.tsx';
import { firstMatches } from '../bounded-search.ts';
import { accountsOf, EventActor, EventTarget } from './event-accounts.tsx';
import { knownActions, sentenceOf } from './event-sentence.ts';
import { EventTime, inputOf, instantOf, isInstant, isUtc } from './event-time.tsx';

type Query = NonNullable<RequestOf<'GET /admin/audit'>['query']>;
type AuditEvent = ResponseOf<'GET /admin/audit'>['events'][number];

const actorPattern = '[a-z_]+(:[0-9A-Za-z_]+)?';
const targetPattern = '[!-~]{1,256}';

/** Whether the URL can have a value of a filter. */
const filters: Readonly<Record<string, (value: string) => boolean>> = {
  action: (value) => /^[a-z_]+\.[a-z_]+$/.test(value),
  account: (value) => isAccountFilter(value),
  actor: (value) => isAccountFilter(value, actorPattern),
  target: (value) => isAccountFilter(value, targetPattern),
  from: isInstant,
  to: isInstant,
};

/** Events whose details are open. */
const opened = signal<ReadonlySet<number>>(new Set());

export function AuditPage() {
  const list = useList<AuditEvent>(
    Object.keys(filters),
    firstMatches(async (query, abort, first) => {
      const request = { query: { limit: '50', ...(query as Query), ...first }, signal: abort };
      const { events, ...page } = await call('GET /admin/audit', request);
      await nameAccounts(accountsOf(events), abort);
      return { items: events, ...page };
    }),
    filters,
  );
  return (
    <Page title={adminText.general.audit} intro={adminText.audit.intro} actions={<Export query={list.query} />}>
      <div class="list">
        <Filters list={list} />
        <PagedTable
          list={list}
          skeletonRows={6}
          defaultSize="50"
          label={adminText.general.audit}
          keyOf={({ id }) => id}
          columns={columns()}
        />
      </div>
    </Page>
  );
}

const Filters = ({ list }: { readonly list: List<AuditEvent> }) => (
  <ListHeader list={list}>
    {(['from', 'to'] as const).map((name) => (
      <FilterField
        list={list}
        name={name}
        label={adminText.audit[name]}
        type="datetime-local"
        shown={inputOf}
        given={instantOf}
        key={name}
      />
    ))}
    <FilterSelect
      list={list}
      name="action"
      label={adminText.audit.action}
      all={adminText.audit.allActions}
      options={Object.fromEntries(knownActions().map((action) => [action, action]))}
    />
    <AccountFilter list={list} name="account" label={text.general.account} />
    <AccountFilter list={list} name="actor" label={adminText.general.actor} others={actorPattern} />
    <AccountFilter list={list} name="target" label={adminText.audit.target} others={targetPattern} />
    <label class="filter-check">
      <input
        type="checkbox"
        checked={isUtc.value}
        onChange={(event) => void (isUtc.value = event.currentTarget.checked)}
      />
      {adminText.audit.utc}
    </label>
  </ListHeader>
);

const formats = {
  csv: { name: 'audit.csv', label: 'CSV' },
  jsonl: { name: 'audit.jsonl', label: 'JSON Lines' },
} as const;

/** Exports all events that the filters select, not only those of the page. */
function Export({ query }: { readonly query: ListQuery }) {
  const action = useAction(async (format: keyof typeof formats) => {
    const { sort: _, limit: __, ...selection } = query;
    const file = await download('GET /admin/audit/export', { query: { ...(selection as Query), format } });
    saveFile(formats[format].name, file.type, file);
  });
  return (
    <>
      {action.problem && <ProblemNotice problem={action.problem} />}
      <Menu buttonClass="button" button={action.isRunning ? adminText.audit.exporting : adminText.audit.export}>
        {(['csv', 'jsonl'] as const).map((format) => (
          <button type="button" translate={false} onClick={() => void action.run(format)} key={format}>
            {formats[format].label}
          </button>
        ))}
      </Menu>
    </>
  );
}

function toggle(id: number, isOpen: boolean): void {
  const next = new Set(opened.peek());
  if (isOpen) next.add(id);
  else next.delete(id);
  opened.value = next;
}

/** Details are an object of primitive values, or of old and new ones; hostile texts stay texts. */
const EventCell = ({ event: { id, action, details } }: { readonly event: AuditEvent }) => (
  <>
    <bdi>{sentenceOf(action, details) ?? <span class="code">{action}</span>}</bdi>
    {details !== null && (
      <details
        class="event-details"
        open={opened.value.has(id)}
        onToggle={(event) => toggle(id, event.currentTarget.open)}
      >
        <summary>{adminText.general.details}</summary>
        <CodeBlock label={adminText.general.details} code={`${action}\n${JSON.stringify(details, null, 2)}`} />
      </details>
    )}
  </>
);

const columns = (): readonly Column<AuditEvent>[] => [
  { label: text.general.event, cell: (event) => <EventCell event={event} /> },
  { label: text.general.when, priority: 'below', cell: ({ at }) => <EventTime at={at} /> },
  { label: adminText.general.actor, priority: 'below', cell: EventActor },
  {
    label: text.general.account,
    priority: 'low',
    cell: ({ accountId }) => (accountId === null ? '–' : <AccountName id={accountId} />),
  },
  {
    label: adminText.audit.target,
    priority: 'lowest',
    cell: EventTarget,
  },
];
