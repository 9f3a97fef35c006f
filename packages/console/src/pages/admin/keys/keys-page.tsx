/** The API keys of all accounts, with search and filters, deletion, and the search by a whole secret. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { call } from '../../../api.ts';
import { useList, type List } from '../../../list.ts';
import { Button } from '../../../parts/button.tsx';
import { FilterField } from '../../../parts/filter-field.tsx';
import { ListHeader, Search } from '../../../parts/list-header.tsx';
import { Empty, Loaded } from '../../../parts/loaded.tsx';
import { Menu } from '../../../parts/menu.tsx';
import { Page } from '../../../parts/page.tsx';
import { Pager } from '../../../parts/pager.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { secretIn } from '../../../secret-text.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { DeleteKeyDialog, deletion, DeletionNotice } from '../../keys/delete-key-dialog.tsx';
import { ScopeChips } from '../../keys/scope-chips.tsx';
import { KeyState } from '../../keys/key-state.tsx';
import { accountPath, nameOf } from '../accounts/account.tsx';
import { firstMatches } from '../bounded-search.ts';
import { administeredKeysOf, ownedKeyPath, type OwnedKey } from './administered-keys.ts';
import { FindKeyDialog } from './find-key-dialog.tsx';
import { accountIdPattern, keyFilters, keyQueryOf } from './key-search.ts';

export function AdminKeysPage() {
  const deleting = useSignal<OwnedKey>();
  /** While set, the dialog that finds a key by its secret is open; the text is what it starts with. */
  const finding = useSignal<string>();
  const list = useList<OwnedKey>(
    Object.keys(keyFilters),
    ({ cursor: start, ...query }, signal) =>
      firstMatches(async (cursor) => {
        const { apiKeys, nextCursor } = await call('GET /admin/api-keys', {
          query: { ...keyQueryOf(query), ...(cursor && { cursor }) },
          signal,
        });
        return { items: apiKeys, nextCursor };
      }, start),
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
        <Loaded of={list} rows={6}>
          {({ items }) =>
            items.length > 0 ? (
              <Table
                label={adminText.keys.title}
                rows={items}
                keyOf={({ id, owner }) => `${owner.id} ${id}`}
                columns={columnsOf((key) => void (deleting.value = key))}
              />
            ) : list.isEmpty && !list.next ? (
              <Empty title={adminText.keys.none} icon="key" />
            ) : (
              <Empty title={text.general.noMatch} icon="search">
                <Button onClick={list.clearFilters}>{text.general.clearFilters}</Button>
              </Empty>
            )
          }
        </Loaded>
        <Pager list={list} defaultSize="50" />
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
  <ListHeader>
    <Search
      label={adminText.keys.search}
      value={list.searchText}
      onSearch={(typed) => {
        const secret = secretIn(typed);
        list.search(secret === undefined ? typed : '');
        if (secret !== undefined) onSecret(secret);
      }}
    />
    <FilterField list={list} name="owner" label={adminText.keys.owner} pattern={accountIdPattern} placeholder="acc_…" />
    <FilterField list={list} name="scope" label={adminText.keys.scope} pattern="[\x21-\x7e]{1,64}" />
    <FilterField list={list} name="unusedSince" label={adminText.keys.unusedSince} type="date" />
    <FilterField list={list} name="expiresBefore" label={adminText.keys.expiresBefore} type="date" />
    {list.hasFilters && (
      <Button kind="link" onClick={list.clearFilters}>
        {text.general.clearFilters}
      </Button>
    )}
  </ListHeader>
);

const columnsOf = (onDelete: (key: OwnedKey) => void): readonly Column<OwnedKey>[] => [
  {
    label: text.keys.nickname,
    cell: (key) => (
      <a class="row-link nickname" href={ownedKeyPath(key)} title={key.nickname}>
        <bdi>{key.nickname}</bdi>
      </a>
    ),
  },
  {
    label: adminText.keys.owner,
    priority: 'below',
    cell: ({ owner }) => (
      <a class="account-name" href={accountPath(owner.id)}>
        <bdi>{nameOf(owner)}</bdi>
      </a>
    ),
  },
  {
    label: text.keys.hint,
    priority: 'low',
    cell: ({ hint, publicKey }) => <code class="one-line">{hint ?? publicKey?.crv}</code>,
  },
  { label: text.keys.scopes, priority: 'lowest', cell: ({ scopes }) => <ScopeChips scopes={scopes} /> },
  { label: text.keys.lastUsed, priority: 'medium', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  { label: text.keys.expires, priority: 'low', cell: ({ expiresAt }) => <Time at={expiresAt} as="date" /> },
  { label: text.keys.state, priority: 'below', cell: (key) => <KeyState of={key} /> },
  {
    label: text.keys.actions,
    isLabelHidden: true,
    align: 'end',
    cell: (key) => (
      <Menu label={text.keys.actionsOf(key.nickname)}>
        <a href={ownedKeyPath(key)}>{text.keys.open}</a>
        <button type="button" class="danger" onClick={() => onDelete(key)}>
          {text.keys.delete}
        </button>
      </Menu>
    ),
  },
];
