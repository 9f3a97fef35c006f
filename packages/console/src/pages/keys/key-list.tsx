/** A list of API keys with search, filter, order and pages; creation and deletion. */
import { useSignal, type Signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { formatNumber } from '../../format.ts';
import { useList, type List } from '../../list.ts';
import { Button } from '../../parts/button.tsx';
import { FilterSelect } from '../../parts/filter-select.tsx';
import { ListHeader, Search } from '../../parts/list-header.tsx';
import { Empty, Loaded } from '../../parts/loaded.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { hasSecret } from '../../secret-text.ts';
import { config } from '../../session.ts';
import { text } from '../../text/text.ts';
import type { CreateKeyDialogProps } from './create-key-dialog.tsx';
import { DeleteKeyDialog, deletion, DeletionNotice } from './delete-key-dialog.tsx';
import type { KeyOwner, ListedKey } from './key-owner.ts';
import { KeyState } from './key-state.tsx';
import { ScopeChips } from './scope-chips.tsx';

export interface KeyListProps {
  readonly owner: KeyOwner;
  /** The caller decides whether it loads later. */
  readonly CreateKeyDialog: ComponentType<CreateKeyDialogProps>;
  /** Whether the dialog for a new key is open. */
  readonly isCreating: Signal<boolean>;
}

export const CreateKeyButton = ({ isCreating }: Pick<KeyListProps, 'isCreating'>) => (
  <Button kind="primary" icon="plus" onClick={() => void (isCreating.value = true)}>
    {text.keys.create}
  </Button>
);

const states = ['active', 'expiring', 'expired', 'disabled'] as const;
const sorts = ['created', 'nickname', 'lastUsed', 'expires'].flatMap((name) => [name, `-${name}`]);

export function KeyList({ owner, CreateKeyDialog, isCreating }: KeyListProps) {
  const hasUsage = Boolean(config.value?.features.usageDays);
  const list = useList<ListedKey>(
    ['search', 'state'],
    (query, abort) => owner.list({ limit: '100', ...query, ...(hasUsage && { usage: '7d' }) }, abort),
    { search: (value) => !hasSecret(value), state: states, sort: sorts },
  );
  const deleting = useSignal<{ readonly row: ListedKey; readonly index: number }>();
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => () => void (deletion.value = undefined), []);
  /** The row after the deleted one moves to its place. */
  const afterDeletion = async (index: number): Promise<void> => {
    await list.reload();
    requestAnimationFrame(() => {
      const links = [...(element.current?.querySelectorAll<HTMLElement>('tbody th a') ?? [])];
      (links[index] ?? links.at(-1) ?? element.current?.querySelector<HTMLElement>('input, button'))?.focus();
    });
  };
  return (
    <div class="stack" ref={element}>
      <DeletionNotice />
      <div class="list">
        {!list.isEmpty && <Filters list={list} />}
        <Loaded of={list} rows={6}>
          {({ items }) =>
            items.length > 0 ? (
              <Table
                label={text.keys.title}
                rows={items}
                keyOf={({ id }) => id}
                sort={list.query['sort'] ?? 'created'}
                onSort={(sort) => list.change('sort', sort)}
                columns={columnsOf(owner, hasUsage, (row, index) => void (deleting.value = { row, index }))}
              />
            ) : list.isEmpty ? (
              <Empty title={text.keys.none} icon="key">
                <p>{text.keys.noneIntro}</p>
                <CreateKeyButton isCreating={isCreating} />
              </Empty>
            ) : (
              <Empty title={text.general.noMatch} icon="search">
                <Button onClick={list.clearFilters}>{text.general.clearFilters}</Button>
              </Empty>
            )
          }
        </Loaded>
        <Pager list={list} />
      </div>
      {isCreating.value && (
        <CreateKeyDialog
          owner={owner}
          onClose={(isCreated) => {
            isCreating.value = false;
            if (isCreated) void list.reload();
          }}
        />
      )}
      {deleting.value && (
        <DeleteKeyDialog
          owner={owner}
          of={deleting.value.row}
          onDeleted={() => void afterDeletion(deleting.value?.index ?? 0)}
          onClose={() => void (deleting.value = undefined)}
        />
      )}
    </div>
  );
}

/** `leaked` is among the disabled ones. */
const filterStates = () => Object.fromEntries(states.map((state) => [state, text.keys.states[state]]));

function Filters({ list }: { readonly list: List<ListedKey> }) {
  const isSecret = useSignal(false);
  const search = (typed: string): void => {
    isSecret.value = hasSecret(typed);
    list.search(isSecret.value ? '' : typed);
  };
  return (
    <>
      <ListHeader>
        <Search label={text.keys.search} value={list.searchText} onSearch={search} />
        <FilterSelect
          list={list}
          name="state"
          label={text.keys.state}
          all={text.keys.allStates}
          options={filterStates()}
        />
        {list.hasFilters && (
          <Button kind="link" onClick={list.clearFilters}>
            {text.general.clearFilters}
          </Button>
        )}
      </ListHeader>
      {isSecret.value && <Notice role="status">{text.keys.searchOfSecret}</Notice>}
    </>
  );
}

function columnsOf(
  { keyPath }: KeyOwner,
  hasUsage: boolean,
  onDelete: (row: ListedKey, index: number) => void,
): Column<ListedKey>[] {
  const hasEnvironments = Boolean(config.value?.features.environments.length);
  const columns: (Column<ListedKey> | false)[] = [
    {
      label: text.keys.nickname,
      sort: 'nickname',
      cell: ({ id, nickname }) => (
        <a class="row-link nickname" href={keyPath(id)} title={nickname}>
          <bdi>{nickname}</bdi>
        </a>
      ),
    },
    {
      label: text.keys.hint,
      priority: 'medium',
      cell: ({ hint, publicKey }) => <code class="one-line">{hint ?? publicKey?.crv}</code>,
    },
    { label: text.keys.scopes, priority: 'low', cell: ({ scopes }) => <ScopeChips scopes={scopes} /> },
    hasEnvironments && {
      label: text.keys.environment,
      priority: 'medium',
      cell: ({ environment }) => environment,
    },
    {
      label: text.keys.createdAt,
      sort: 'created',
      priority: hasEnvironments ? 'lowest' : 'low',
      cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
    },
    {
      label: text.keys.lastUsed,
      sort: 'lastUsed',
      priority: 'medium',
      cell: ({ lastUsedAt }) => <Time at={lastUsedAt} />,
    },
    {
      label: text.keys.expires,
      sort: 'expires',
      priority: 'medium',
      cell: ({ expiresAt }) => <Time at={expiresAt} as="date" />,
    },
    hasUsage && {
      label: text.keys.requestsWeek,
      priority: 'low',
      align: 'end',
      cell: ({ usage }) => usage && <RecentUsage {...usage} />,
    },
    { label: text.keys.state, priority: 'below', cell: (key) => <KeyState of={key} /> },
    {
      label: text.keys.actions,
      isLabelHidden: true,
      align: 'end',
      cell: (row, index) => (
        <Menu label={text.keys.actionsOf(row.nickname)}>
          <a href={keyPath(row.id)}>{text.keys.open}</a>
          <button type="button" class="danger" onClick={() => onDelete(row, index)}>
            {text.keys.delete}
          </button>
        </Menu>
      ),
    },
  ];
  return columns.filter((column) => column !== false);
}

const RecentUsage = ({ accepted, refused, days }: NonNullable<ListedKey['usage']>) => (
  <span class="recent-usage">
    <span>{formatNumber(accepted + refused)}</span>
    <Sparkline sentence={text.keys.week(formatNumber(accepted), formatNumber(refused))} values={days} />
  </span>
);
