/** The API keys of all accounts, with search and filters, deletion, and the search by a whole secret. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { call } from '../../../api.ts';
import { useList, type List } from '../../../list.ts';
import { Button } from '../../../parts/button.tsx';
import { FilterField } from '../../../parts/filter-field.tsx';
import { ListHeader, Search } from '../../../parts/list-header.tsx';
import { Empty } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/paged-table.tsx';
import type { Column } from '../../../parts/table.tsx';
import { secretIn } from '../../../secret-text.ts';
import { adminText } from '../../../text/admin-text.ts';
import { DeleteKeyDialog, deletion, DeletionNotice } from '../../keys/delete-key-dialog.tsx';
import { keyColumns } from '../../keys/key-columns.tsx';
import { accountPath, nameOf } from '../accounts/account.tsx';
import { firstMatches } from '../bounded-search.ts';
import { administeredKeysOf, ownedKeyPath, type OwnedKey } from './administered-keys.ts';
import { FindKeyDialog } from './find-key-dialog.tsx';
import { AccountFilter } from '../account-filter.tsx';
import { keyFilters, keyQueryOf } from './key-search.ts';

export function AdminKeysPage() {
  const deleting = useSignal<OwnedKey>();
  /** While set, the dialog that finds a key by its secret is open; the text is what it starts with. */
  const finding = useSignal<string>();
  const list = useList<OwnedKey>(
    Object.keys(keyFilters),
    firstMatches(async (query, signal, first) => {
      const request = { query: { ...keyQueryOf(query), ...first }, signal };
      const { apiKeys, ...page } = await call('GET /admin/api-keys', request);
      return { items: apiKeys, ...page };
    }),
    keyFilters,
  );
  useLayoutEffect(() => () => void (deletion.value = undefined), []);
  return (
    <Page
      title={adminText.keys.title}
      actions={
        <Button icon="search" onClick={() => void (finding.value = '')}>
          {adminText.keys.findTitle}
        </Button>
      }
    >
      <DeletionNotice />
      <div class="list">
        <Filters list={list} onSecret={(secret) => void (finding.value = secret)} />
        <PagedTable
          list={list}
          skeletonRows={6}
          defaultSize="50"
          label={adminText.keys.title}
          keyOf={({ id, owner }) => `${owner.id} ${id}`}
          columns={columnsOf((key) => void (deleting.value = key))}
          empty={<Empty title={adminText.keys.none} icon="key" />}
        />
      </div>
      {finding.value !== undefined && (
        <FindKeyDialog secret={finding.value} onClose={() => void (finding.value = undefined)} />
      )}
      {deleting.value && (
        <DeleteKeyDialog
          owner={administeredKeysOf(deleting.value.owner.id)}
          of={deleting.value}
          onDeleted={() => void list.reload()}
          onClose={() => void (deleting.value = undefined)}
        />
      )}
    </Page>
  );
}

interface FiltersProps {
  readonly list: List<OwnedKey>;
  readonly onSecret: (secret: string) => void;
}

const Filters = ({ list, onSecret }: FiltersProps) => (
  <ListHeader list={list}>
    <Search
      label={adminText.keys.search}
      value={list.searchText}
      onSearch={(typed) => {
        const secret = secretIn(typed);
        list.search(secret === undefined ? typed : '');
        if (secret !== undefined) onSecret(secret);
      }}
    />
    <AccountFilter list={list} name="owner" label={adminText.keys.owner} />
    <FilterField list={list} name="scope" label={adminText.keys.scope} pattern="[\x21-\x7e]{1,64}" />
    <FilterField list={list} name="unusedSince" label={adminText.keys.unusedSince} type="date" />
    <FilterField list={list} name="expiresBefore" label={adminText.keys.expiresBefore} type="date" />
  </ListHeader>
);

function columnsOf(onDelete: (key: OwnedKey) => void): readonly Column<OwnedKey>[] {
  const { nickname, hint, scopes, lastUsed, expires, state, actions } = keyColumns(ownedKeyPath, onDelete);
  const owner: Column<OwnedKey> = {
    label: adminText.keys.owner,
    priority: 'below',
    cell: ({ owner: of }) => (
      <a class="account-name" href={accountPath(of.id)}>
        <bdi>{nameOf(of)}</bdi>
      </a>
    ),
  };
  return [
    nickname,
    owner,
    { ...hint, priority: 'low' },
    { ...scopes, priority: 'lowest' },
    lastUsed,
    expires,
    state,
    actions,
  ];
}
