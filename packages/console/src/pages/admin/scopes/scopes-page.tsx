/** The scope catalogue: declaration, change and deletion of scopes. */
import { useSignal } from '@preact/signals';
import { call } from '../../../api.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { announce } from '../../../parts/announce.tsx';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Empty, Loaded } from '../../../parts/loaded.tsx';
import { Menu } from '../../../parts/menu.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { Page } from '../../../parts/page.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useResource } from '../../../resource.ts';
import { config } from '../../../session.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { ScopeDialog, type Scope } from './scope-dialog.tsx';

export function ScopesPage() {
  /** `new`: declares another one. */
  const editing = useSignal<Scope | 'new'>();
  const deleting = useSignal<string>();
  const list = useResource((signal) => call('GET /admin/scopes', { signal }));
  const onChanged = (sentence: string): void => {
    announce(sentence);
    void list.reload();
  };
  const create = (
    <Button kind="primary" icon="plus" onClick={() => void (editing.value = 'new')}>
      {adminText.scopes.declare}
    </Button>
  );
  const isEmpty = list.value?.scopes.length === 0;
  return (
    <Page title={text.keys.scopes} intro={adminText.scopes.intro} actions={!isEmpty && create}>
      {!config.value?.features.scopesCatalogue && <Notice>{adminText.scopes.open}</Notice>}
      <div class="list">
        <Loaded of={list}>
          {({ scopes }) =>
            scopes.length === 0 ? (
              <Empty title={adminText.scopes.none}>
                <p>{adminText.scopes.noneIntro}</p>
                {create}
              </Empty>
            ) : (
              <Table
                label={text.keys.scopes}
                rows={scopes}
                keyOf={({ name }) => name}
                columns={columnsOf(
                  (scope) => void (editing.value = scope),
                  (name) => void (deleting.value = name),
                )}
              />
            )
          }
        </Loaded>
      </div>
      {editing.value && (
        <ScopeDialog
          {...(editing.value !== 'new' && { current: editing.value })}
          onClose={() => void (editing.value = undefined)}
          onSaved={onChanged}
        />
      )}
      {deleting.value && (
        <DeleteDialog
          name={deleting.value}
          onClose={() => void (deleting.value = undefined)}
          onDeleted={() => onChanged(adminText.scopes.deleted)}
        />
      )}
    </Page>
  );
}

const columnsOf = (onEdit: (scope: Scope) => void, onDelete: (name: string) => void): readonly Column<Scope>[] => [
  { label: text.general.name, cell: ({ name }) => <code class="account-name">{name}</code> },
  {
    label: adminText.scopes.description,
    priority: 'medium',
    cell: ({ description }) => <bdi class="wrap">{description}</bdi>,
  },
  {
    label: adminText.scopes.state,
    priority: 'below',
    cell: ({ deletedAt, entitled }) =>
      deletedAt !== null ? (
        <Badge>{adminText.scopes.states.deleted}</Badge>
      ) : entitled ? (
        <Badge tone="warning">{adminText.scopes.states.entitled}</Badge>
      ) : (
        <Badge tone="good">{adminText.scopes.states.everyone}</Badge>
      ),
  },
  { label: text.general.changed, priority: 'low', cell: ({ updatedAt }) => <Time at={updatedAt} as="date" /> },
  {
    label: text.general.actions,
    isLabelHidden: true,
    align: 'end',
    cell: (scope) => (
      <Menu label={adminText.scopes.actionsOf(scope.name)}>
        <button type="button" onClick={() => onEdit(scope)}>
          {scope.deletedAt === null ? adminText.scopes.change : adminText.scopes.declareAgain}
        </button>
        {scope.deletedAt === null && (
          <button type="button" class="danger" onClick={() => onDelete(scope.name)}>
            {adminText.scopes.delete}
          </button>
        )}
      </Menu>
    ),
  },
];

interface DeleteDialogProps {
  readonly name: string;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

const DeleteDialog = ({ name, onClose, onDeleted }: DeleteDialogProps) => (
  <ActionDialog
    title={adminText.scopes.deleteTitle}
    submit={adminText.scopes.delete}
    kind="danger"
    onClose={onClose}
    act={async () => {
      await call('DELETE /admin/scopes/:name', { params: { name } });
      onDeleted();
    }}
  >
    <p>
      <code>{name}</code>
    </p>
    <p>{adminText.scopes.deleteIntro}</p>
  </ActionDialog>
);
