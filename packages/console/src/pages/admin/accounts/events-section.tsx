/** The newest audit events of an account. */
import type { Signal } from '@preact/signals';
import { nameAccounts } from '../../../account-names.ts';
import { call, type ResponseOf } from '../../../api.ts';
import { Empty, Loaded } from '../../../parts/loaded.tsx';
import { Section } from '../../../parts/section.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useResource } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { accountsOf, EventActor } from '../audit/event-accounts.tsx';
import { sentenceOf } from '../audit/event-sentence.ts';
import { root } from '../../../root.ts';

type AuditEvent = ResponseOf<'GET /admin/audit'>['events'][number];

const columns = (): readonly Column<AuditEvent>[] => [
  {
    label: text.general.event,
    cell: ({ action, details }) => sentenceOf(action, details) ?? <span class="code">{action}</span>,
  },
  { label: adminText.general.actor, priority: 'below', cell: EventActor },
  { label: text.general.when, priority: 'below', cell: ({ at }) => <Time at={at} /> },
];

export function EventsSection({ id, changes }: { readonly id: string; readonly changes: Signal<number> }) {
  const events = useResource(async (signal) => {
    void changes.value;
    const page = await call('GET /admin/audit', { query: { account: id, limit: '10' }, signal });
    await nameAccounts(accountsOf(page.events), signal);
    return page;
  });
  return (
    <Section
      title={adminText.general.newestEvents}
      description={adminText.accounts.eventsIntro}
      actions={<a href={`${root}/admin/audit?account=${id}`}>{adminText.accounts.allEvents}</a>}
    >
      <Loaded of={events}>
        {(page) =>
          page.events.length === 0 ? (
            <Empty title={adminText.accounts.noEvents} />
          ) : (
            <Table
              label={adminText.general.newestEvents}
              columns={columns()}
              rows={page.events}
              keyOf={(event) => event.id}
            />
          )
        }
      </Loaded>
    </Section>
  );
}
