/** All accounts, with search and filters, and the invitation of a person. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { call, type RequestOf } from '../../../api.ts';
import { useList } from '../../../list.ts';
import { announce } from '../../../parts/announce.tsx';
import { Button } from '../../../parts/button.tsx';
import { FilterSelect } from '../../../parts/filter-select.tsx';
import { ListHeader, Search } from '../../../parts/list-header.tsx';
import { Empty, Loaded } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { Pager } from '../../../parts/pager.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { config } from '../../../session.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { firstMatches } from '../bounded-search.ts';
import { AccountState, accountPath, nameOf, type ListedAccount } from './account.tsx';
import { InviteDialog } from './invite-dialog.tsx';

type Query = NonNullable<RequestOf<'GET /admin/accounts'>['query']>;

const choices = { kind: ['person', 'service'], role: ['user', 'admin'], state: ['enabled', 'disabled', 'unverified'] };

const columns = (): readonly Column<ListedAccount>[] => [
  {
    label: adminText.accounts.email,
    cell: (account) => (
      <a class="row-link account-name" href={accountPath(account.id)}>
        <bdi>{nameOf(account)}</bdi>
      </a>
    ),
  },
  { label: adminText.accounts.kind, priority: 'low', cell: ({ kind }) => adminText.accounts.kinds[kind] },
  { label: adminText.accounts.role, priority: 'medium', cell: ({ role }) => adminText.accounts.roles[role] },
  { label: adminText.accounts.state, priority: 'below', cell: (account) => <AccountState of={account} /> },
  {
    label: adminText.accounts.created,
    priority: 'medium',
    cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
  },
];

export function AccountsPage() {
  const { route } = useLocation();
  const isInviting = useSignal(false);
  const list = useList<ListedAccount>(
    ['search', 'kind', 'role', 'state', 'creatorId'],
    ({ search, cursor: start, ...query }, signal) =>
      firstMatches(async (cursor) => {
        const page = await call('GET /admin/accounts', {
          query: { ...(query as Query), ...(search && { query: search }), ...(cursor && { cursor }) },
          signal,
        });
        return { items: page.accounts, nextCursor: page.nextCursor };
      }, start),
    choices,
  );
  return (
    <Page
      title={adminText.accounts.title}
      actions={
        config.value?.features.mail && (
          <Button kind="primary" icon="plus" onClick={() => void (isInviting.value = true)}>
            {adminText.accounts.invite}
          </Button>
        )
      }
    >
      <div class="list">
        <ListHeader>
          <Search label={adminText.accounts.search} value={list.searchText} onSearch={list.search} />
          <FilterSelect
            list={list}
            name="kind"
            label={adminText.accounts.kind}
            all={adminText.accounts.allKinds}
            options={adminText.accounts.kinds}
          />
          <FilterSelect
            list={list}
            name="role"
            label={adminText.accounts.role}
            all={adminText.accounts.allRoles}
            options={adminText.accounts.roles}
          />
          <FilterSelect
            list={list}
            name="state"
            label={adminText.accounts.state}
            all={adminText.accounts.allStates}
            options={adminText.accounts.filterStates}
          />
          {list.hasFilters && (
            <Button kind="link" onClick={list.clearFilters}>
              {text.general.clearFilters}
            </Button>
          )}
        </ListHeader>
        <Loaded of={list} rows={6}>
          {({ items }) =>
            items.length > 0 ? (
              <Table label={adminText.accounts.title} rows={items} keyOf={({ id }) => id} columns={columns()} />
            ) : (
              <Empty title={text.general.noMatch} icon="search">
                {/* A page of the search reads a bounded number of accounts. */}
                {!list.next && <Button onClick={list.clearFilters}>{text.general.clearFilters}</Button>}
              </Empty>
            )
          }
        </Loaded>
        <Pager list={list} defaultSize="50" />
      </div>
      {isInviting.value && (
        <InviteDialog
          onClose={() => void (isInviting.value = false)}
          onInvited={({ id, email }) => {
            announce(adminText.accounts.invited(email ?? id));
            route(accountPath(id));
          }}
        />
      )}
    </Page>
  );
}
