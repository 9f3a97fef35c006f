/** A list of API keys with search, filter, order and pages; creation and deletion. */
import { useSignal, type Signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { formatNumber } from '../../format.ts';
import { useList, type List } from '../../list.ts';
import { Button } from '../../parts/button.tsx';
import { ListHeader, Search, StateFilter } from '../../parts/list-header.tsx';
import { Empty } from '../../parts/loaded.tsx';
import { Notice } from '../../parts/notice.tsx';
import { PagedTable } from '../../parts/paged-table.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { hasSecret } from '../../secret-text.ts';
import { config } from '../../session-state.ts';
import { text } from '../../text/text.ts';
import type { CreateKeyDialogProps } from './create-key-dialog.tsx';
import { DeleteKeyDialog, deletion, DeletionNotice } from './delete-key-dialog.tsx';
import { keyColumns } from './key-columns.tsx';
import type { KeyOwner, KeyQuery, ListedKey } from './key-owner.ts';

export interface KeyListProps {
  readonly owner: KeyOwner;
  /** The caller decides whether it loads later. */
  readonly CreateKeyDialog: ComponentType<CreateKeyDialogProps>;
  /** Whether the dialog for a new key is open. */
  readonly isCreating: Signal<boolean>;
  /** For a list in a part of a window. */
  readonly compact?: CompactList;
}

interface CompactList {
  /** Of each page. Otherwise 100, and the person can choose another number. */
  readonly rows: number;
  /** Without a choice of the person. */
  readonly sort: NonNullable<KeyQuery['sort']>;
  readonly priorities: Partial<Record<'scopes' | 'created' | 'expires' | 'requests', Column<ListedKey>['priority']>>;
}

export const CreateKeyButton = ({ isCreating }: Pick<KeyListProps, 'isCreating'>) => (
  <Button kind="primary" icon="plus" onClick={() => void (isCreating.value = true)}>
    {text.keys.create}
  </Button>
);

const states = ['active', 'expiring', 'expired', 'disabled'] as const;
const sorts = ['created', 'nickname', 'lastUsed', 'expires'].flatMap((name) => [name, `-${name}`]);

export function KeyList({ owner, CreateKeyDialog, isCreating, compact }: KeyListProps) {
  const { rows = 100, sort: usualSort = 'created', priorities = {} }: Partial<CompactList> = compact ?? {};
  const hasUsage = Boolean(config.value?.features.usageDays);
  const list = useList<ListedKey>(
    ['search', 'state'],
    (query, abort, first) =>
      owner.list(
        {
          limit: String(rows),
          ...(compact && { sort: usualSort }),
          ...query,
          ...first,
          ...(hasUsage && { usage: '7d' }),
        },
        abort,
      ),
    { search: (value) => !hasSecret(value), state: states, sort: sorts },
  );
  const deleting = useSignal<{ readonly row: ListedKey; readonly index: number }>();
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => () => void (deletion.value = undefined), []);
  /** The row after the deleted one moves to its place. */
  const afterDeletion = async (index: number): Promise<void> => {
    await list.reload();
    requestAnimationFrame(() => {
      const links = [...(element.current?.querySelectorAll<HTMLElement>('tbody th :is(a, button)') ?? [])];
      (links[index] ?? links.at(-1) ?? element.current?.querySelector<HTMLElement>('input, button'))?.focus();
    });
  };
  return (
    <div class="stack" ref={element}>
      <DeletionNotice />
      <div class="list">
        {!list.isEmpty && <Filters list={list} />}
        <PagedTable
          list={list}
          skeletonRows={6}
          label={text.general.keys}
          keyOf={({ id }) => id}
          sort={list.query['sort'] ?? usualSort}
          onSort={(sort) => list.change('sort', sort)}
          columns={columnsOf(owner, priorities, (row, index) => void (deleting.value = { row, index }))}
          {...(compact && { fixedSize: rows })}
          empty={
            <Empty title={text.keys.none} icon="key">
              {owner.rights.create && (
                <>
                  <p>{text.keys.noneIntro}</p>
                  <CreateKeyButton isCreating={isCreating} />
                </>
              )}
            </Empty>
          }
        />
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
      <ListHeader list={list}>
        <Search label={text.keys.search} value={list.searchText} onSearch={search} />
        <StateFilter list={list} options={filterStates()} />
      </ListHeader>
      {isSecret.value && <Notice role="status">{text.keys.searchOfSecret}</Notice>}
    </>
  );
}

function columnsOf(
  { keyPath, rights }: KeyOwner,
  priorities: CompactList['priorities'],
  onDelete: (row: ListedKey, index: number) => void,
): Column<ListedKey>[] {
  const hasUsage = Boolean(config.value?.features.usageDays);
  const hasEnvironments = Boolean(config.value?.features.environments.length);
  const { nickname, hint, scopes, lastUsed, expires, state, actions } = keyColumns<ListedKey>(
    ({ id }) => keyPath(id),
    rights.delete ? onDelete : undefined,
  );
  const columns: (Column<ListedKey> | false)[] = [
    { ...nickname, sort: 'nickname' },
    hint,
    { ...scopes, priority: priorities.scopes ?? scopes.priority },
    hasEnvironments && {
      label: text.keys.environment,
      priority: 'medium',
      cell: ({ environment }) => environment,
    },
    {
      label: text.general.created,
      sort: 'created',
      priority: priorities.created ?? (hasEnvironments ? 'lowest' : 'low'),
      cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
    },
    { ...lastUsed, sort: 'lastUsed' },
    { ...expires, sort: 'expires', priority: priorities.expires ?? 'medium' },
    hasUsage && {
      label: text.keys.requestsWeek,
      priority: priorities.requests ?? 'low',
      align: 'end',
      cell: ({ usage }) => usage && <RecentUsage {...usage} />,
    },
    state,
    actions,
  ];
  return columns.filter((column) => column !== false);
}

const RecentUsage = ({ accepted, refused, days }: NonNullable<ListedKey['usage']>) => (
  <span class="recent-usage">
    <span>{formatNumber(accepted + refused)}</span>
    <Sparkline sentence={text.keys.week(formatNumber(accepted), formatNumber(refused))} values={days} />
  </span>
);
