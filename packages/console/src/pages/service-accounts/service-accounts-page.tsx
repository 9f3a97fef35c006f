/** The service accounts that the person manages. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { nameAccounts } from '../../account-names.ts';
import { call } from '../../api.ts';
import { useList } from '../../list.ts';
import { AccountName } from '../../parts/account-name.tsx';
import { announce } from '../../parts/announce.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/paged-table.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { isAdministrator, session } from '../../session.ts';
import { text } from '../../text/text.ts';
import { ServiceAccountForm, type ServiceAccount } from './service-account-form.tsx';
import { root } from '../../root.ts';

const pathOf = (id: string): string => `${root}/service-accounts/${id}`;

/** Only administrators see the names of other accounts. */
export function Creator({ creatorId }: Pick<ServiceAccount, 'creatorId'>) {
  if (creatorId === null) return <>{text.general.deletedAccount}</>;
  if (creatorId === session.value?.account.id) return <>{text.serviceAccounts.you}</>;
  return isAdministrator.value ? <AccountName id={creatorId} /> : <>{text.serviceAccounts.otherAccount}</>;
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
  { label: text.serviceAccounts.createdBy, cell: Creator, priority: 'medium' },
  {
    label: text.general.created,
    cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
    priority: 'medium',
  },
];

export function ServiceAccountsPage() {
  const { route } = useLocation();
  const isCreating = useSignal(false);
  const list = useList([], async (query, signal, first) => {
    const { serviceAccounts, ...page } = await call('GET /auth/service-accounts', {
      query: { ...query, ...first },
      signal,
    });
    await nameAccounts(
      serviceAccounts.map(({ creatorId }) => creatorId),
      signal,
    );
    return { items: serviceAccounts, ...page };
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
