/** The state of the installation: waiting jobs, processes, and the newest audit events. */
import { serverNow } from '../../../clock.ts';
import { formatNumber } from '../../../format.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Empty } from '../../../parts/loaded.tsx';
import { Section } from '../../../parts/section.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { EventActor } from '../audit/event-accounts.tsx';
import { sentenceOf } from '../audit/event-sentence.ts';
import { jobKindLabel } from '../jobs/job-kind.ts';
import type { Overview } from './overview.ts';
import { root } from '../../../root.ts';

type Jobs = Overview['outbox'][number];
type Instance = Overview['instances'][number];
type AuditEvent = Overview['events'][number];

/** All kinds, also without jobs: rows do not move while the values change. */
export function JobsSection({ jobs }: { readonly jobs: readonly Jobs[] }) {
  const texts = adminText.overview;
  const waiting = new Map(jobs.map((entry) => [entry.kind, entry]));
  const kinds = [...new Set([...Object.keys(adminText.jobs.kinds), ...waiting.keys()])];
  const rows = kinds.map((kind): Jobs => waiting.get(kind) ?? { kind, waiting: 0, oldestSeconds: 0 });
  return (
    <Section title={texts.jobs} actions={<a href={`${root}/admin/jobs`}>{adminText.general.jobs}</a>}>
      <Table label={texts.jobs} rows={rows} keyOf={({ kind }) => kind} columns={jobColumns()} />
    </Section>
  );
}

const jobColumns = (): readonly Column<Jobs>[] => [
  { label: adminText.general.kind, cell: ({ kind }) => jobKindLabel(kind) },
  {
    label: adminText.overview.oldest,
    priority: 'below',
    cell: ({ waiting, oldestSeconds }) =>
      waiting === 0 ? '–' : <Time at={new Date(serverNow() - oldestSeconds * 1000).toISOString()} />,
  },
  {
    label: adminText.overview.waiting,
    align: 'end',
    cell: ({ waiting }) => <span class={waiting === 0 ? 'muted' : ''}>{formatNumber(waiting)}</span>,
  },
];

/** The list of what needs attention has a link to it. */
export const ProcessesSection = ({ instances }: { readonly instances: readonly Instance[] }) => (
  <div id="processes">
    <Section title={adminText.overview.processes}>
      <Table label={adminText.overview.processes} rows={instances} keyOf={({ id }) => id} columns={processColumns()} />
    </Section>
  </div>
);

function processColumns(): readonly Column<Instance>[] {
  const texts = adminText.overview;
  return [
    { label: texts.process, cell: ({ id }) => <span class="code">{id}</span> },
    {
      label: text.general.state,
      priority: 'below',
      cell: ({ isRunning }) => (isRunning ? <Badge tone="good">{texts.running}</Badge> : <Badge>{texts.ended}</Badge>),
    },
    { label: texts.version, priority: 'below', cell: ({ version }) => version },
    { label: texts.started, priority: 'medium', cell: ({ startedAt }) => <Time at={startedAt} as="dateTime" /> },
    { label: texts.seen, priority: 'below', cell: ({ seenAt }) => <Time at={seenAt} /> },
  ];
}

export function EventsSection({ events }: { readonly events: readonly AuditEvent[] }) {
  const texts = adminText.overview;
  return (
    <Section
      title={adminText.general.newestEvents}
      actions={<a href={`${root}/admin/audit`}>{adminText.general.audit}</a>}
    >
      {events.length === 0 ? (
        <Empty title={texts.noEvents} />
      ) : (
        <Table label={adminText.general.newestEvents} rows={events} keyOf={({ id }) => id} columns={eventColumns()} />
      )}
    </Section>
  );
}

const eventColumns = (): readonly Column<AuditEvent>[] => [
  {
    label: text.general.event,
    cell: ({ action, details }) => <bdi>{sentenceOf(action, details) ?? <span class="code">{action}</span>}</bdi>,
  },
  { label: text.general.when, priority: 'below', cell: ({ at }) => <Time at={at} /> },
  { label: adminText.general.actor, priority: 'medium', cell: EventActor },
];
