/** The service accounts that the person manages. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { call } from '../../api.ts';
import { useList } from '../../list.ts';
import { announce } from '../../parts/announce.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/paged-table.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { session } from '../../session.ts';
import { text } from '../../text/text.ts';
import { ServiceAccountForm, type ServiceAccount } from './service-account-form.tsx';
import { root } from '../../root.ts';

const pathOf = (id: string): string => `${root}/service-accounts/${id}`;

export function creatorOf({ creatorId }: ServiceAccount): string {
  if (creatorId === null) return text.serviceAccounts.deletedAccount;
  return creatorId === session.value?.account.id ? text.serviceAccounts.you : text.serviceAccounts.otherAccount;
}

const columns = (): readonly Column<ServiceAccount>[] => [
  {
    label: text.general.name,
    cell: ({ id, name }) => (
      <a class="row-link" href={pathOf(id)}>
        {name}
      </a>
    ),
  },
  {
    label: text.serviceAccounts.externalId,
    cell: ({ externalId }) => (externalId === null ? '–' : <span class="code">{externalId}</span>),
  },
  { label: text.serviceAccounts.createdBy, cell: creatorOf, priority: 'medium' },
  {
    label: text.general.created,
    cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
    priority: 'medium',
  },
];

export function ServiceAccountsPage() {
  const { route } = useLocation();
  const isCreating = useSignal(false);
  const list = useList([], async (query, signal) => {
    const page = await call('GET /auth/service-accounts', { query, signal });
    return { items: page.serviceAccounts, nextCursor: page.nextCursor };
  });
  const create = (
    <Button kind="primary" icon="plus" onClick={() => void (isCreating.value = true)}>
      {text.serviceAccounts.create}
    </Button>
  );
  return (
    <Page title={text.general.serviceAccounts} intro={text.serviceAccounts.intro} actions={!list.isEmpty && create}>
      <div class="list">
        <PagedTable
          list={list}
          label={text.general.serviceAccounts}
          keyOf={({ id }) => id}
          columns={columns()}
          empty={
            <Empty title={text.serviceAccounts.emptyTitle} icon="service">
              <p>{text.serviceAccounts.empty}</p>
              {create}
            </Empty>
          }
        />
      </div>
      {isCreating.value && (
        <ServiceAccountForm
          title={text.serviceAccounts.create}
          onClose={() => void (isCreating.value = false)}
          onSubmit={async ({ name, externalId }) => {
            const body = { name, ...(externalId === undefined ? {} : { externalId }) };
            const created = await call('POST /auth/service-accounts', { body });
            announce(text.serviceAccounts.createdAnnouncement(created.name));
            route(pathOf(created.id));
          }}
        />
      )}
    </Page>
  );
}
