/** All accounts, with search and filters, and the invitation of a person. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { call, type RequestOf } from '../../../api.ts';
import { useList } from '../../../list.ts';
import { announce } from '../../../parts/announce.tsx';
import { Button } from '../../../parts/button.tsx';
import { FilterSelect, ListHeader, Search, StateFilter } from '../../../parts/list-header.tsx';
import { Page } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/paged-table.tsx';
import type { Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { config } from '../../../session.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { firstMatches } from '../bounded-search.ts';
import { AccountState, accountPath, nameOf, type ListedAccount } from './account.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { ManagementKeyDialog } from './management-key-dialog.tsx';

type Query = NonNullable<RequestOf<'GET /admin/accounts'>['query']>;

const choices = { kind: ['person', 'service'], role: ['user', 'admin'], state: ['enabled', 'disabled', 'unverified'] };

const columns = (): readonly Column<ListedAccount>[] => [
  {
    label: text.general.email,
    cell: (account) => (
      <a class="row-link account-name" href={accountPath(account.id)}>
        <bdi>{nameOf(account)}</bdi>
      </a>
    ),
  },
  { label: adminText.general.kind, priority: 'low', cell: ({ kind }) => adminText.accounts.kinds[kind] },
  { label: text.account.role, priority: 'medium', cell: ({ role }) => adminText.accounts.roles[role] },
  { label: text.general.state, priority: 'below', cell: (account) => <AccountState of={account} /> },
  {
    label: text.general.created,
    priority: 'medium',
    cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
  },
];

export function AccountsPage() {
  const { route } = useLocation();
  const texts = adminText.accounts;
  const isInviting = useSignal(false);
  const isCreatingKey = useSignal(false);
  const list = useList<ListedAccount>(
    ['search', 'kind', 'role', 'state', 'creatorId'],
    firstMatches(async ({ search, ...filters }, signal, first) => {
      const query = { ...(filters as Query), ...(search && { query: search }), ...first };
      const { accounts, ...page } = await call('GET /admin/accounts', { query, signal });
      return { items: accounts, ...page };
    }),
    choices,
  );
  return (
    <Page
      title={adminText.general.accounts}
      actions={
        config.value?.features.mail && (
          <>
            {config.value.features.managementKeys && (
              <Button onClick={() => void (isCreatingKey.value = true)}>{adminText.managementKeys.create}</Button>
            )}
            <Button kind="primary" icon="plus" onClick={() => void (isInviting.value = true)}>
              {texts.invite}
            </Button>
          </>
        )
      }
    >
      <div class="list">
        <ListHeader list={list}>
          <Search label={texts.search} value={list.searchText} onSearch={list.search} />
          <FilterSelect
            list={list}
            name="kind"
            label={adminText.general.kind}
            all={adminText.general.allKinds}
            options={texts.kinds}
          />
          <FilterSelect list={list} name="role" label={text.account.role} all={texts.allRoles} options={texts.roles} />
          <StateFilter list={list} options={texts.filterStates} />
        </ListHeader>
        <PagedTable
          list={list}
          skeletonRows={6}
          defaultSize="50"
          label={adminText.general.accounts}
          keyOf={({ id }) => id}
          columns={columns()}
        />
      </div>
      {isCreatingKey.value && (
        <ManagementKeyDialog
          onClose={(created) => {
            isCreatingKey.value = false;
            if (created) route(accountPath(created.serviceAccount.id));
          }}
        />
      )}
      {isInviting.value && (
        <InviteDialog
          onClose={() => void (isInviting.value = false)}
          onInvited={({ id, email }) => {
            announce(texts.invited(email ?? id));
            route(accountPath(id));
          }}
        />
      )}
    </Page>
  );
}
