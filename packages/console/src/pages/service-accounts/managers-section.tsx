/** The managers of a service account. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { labelOf, nameAccounts } from '../../account-names.ts';
import { call, type ResponseOf } from '../../api.ts';
import { AccountName } from '../../parts/account-name.tsx';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { announce } from '../../parts/announce.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/section.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useResource } from '../../resource.ts';
import { session } from '../../session.ts';
import { text } from '../../text/text.ts';
import { root } from '../../root.ts';

type Manager = ResponseOf<'GET /auth/service-accounts/:id/managers'>['managers'][number];

const isSelf = (accountId: string): boolean => accountId === session.value?.account.id;

interface ManagersSectionProps {
  /** Of the service account. */
  readonly id: string;
  /** Whether an administrator looks at it. Default: a manager. */
  readonly isAdministered?: boolean;
}

/** The routes of administrators have the same parameters and responses. */
const pathOf = (isAdministered: boolean) =>
  (isAdministered
    ? '/admin/accounts/:id/managers'
    : '/auth/service-accounts/:id/managers') as '/auth/service-accounts/:id/managers';

export function ManagersSection({ id, isAdministered = false }: ManagersSectionProps) {
  const path = pathOf(isAdministered);
  const isAdding = useSignal(false);
  const removed = useSignal<string>();
  const managers = useResource(async (signal) => {
    const list = await call(`GET ${path}`, { params: { id }, signal });
    await nameAccounts(
      list.managers.map(({ accountId }) => accountId),
      signal,
    );
    return list;
  });
  const onChanged = (sentence: string): void => {
    announce(sentence);
    void managers.reload();
  };
  return (
    <Section
      title={text.serviceAccounts.managers}
      description={text.serviceAccounts.managersIntro}
      actions={<Button onClick={() => void (isAdding.value = true)}>{text.serviceAccounts.addManager}</Button>}
    >
      <Loaded of={managers} rows={1}>
        {(list) => (
          <Table
            label={text.serviceAccounts.managers}
            columns={columnsOf((manager) => void (removed.value = manager))}
            rows={list.managers}
            keyOf={({ accountId }) => accountId}
          />
        )}
      </Loaded>
      {isAdding.value && (
        <AddDialog id={id} path={path} onClose={() => void (isAdding.value = false)} onAdded={onChanged} />
      )}
      {removed.value && (
        <RemoveDialog
          id={id}
          path={path}
          isAdministered={isAdministered}
          accountId={removed.value}
          onClose={() => void (removed.value = undefined)}
          onRemoved={onChanged}
        />
      )}
    </Section>
  );
}

const columnsOf = (onRemove: (accountId: string) => void): readonly Column<Manager>[] => [
  {
    label: text.serviceAccounts.manager,
    cell: ({ accountId }) => (
      <>
        <AccountName id={accountId} /> {isSelf(accountId) && <Badge>{text.security.actors.you}</Badge>}
      </>
    ),
  },
  { label: text.serviceAccounts.added, priority: 'below', cell: ({ addedAt }) => <Time at={addedAt} as="date" /> },
  {
    label: text.general.actions,
    isLabelHidden: true,
    align: 'end',
    cell: ({ accountId }) => (
      <Button kind="quiet" isSmall onClick={() => onRemove(accountId)}>
        {text.general.remove}
        <span class="visually-hidden"> {labelOf(accountId)}</span>
      </Button>
    ),
  },
];

interface AddDialogProps {
  readonly id: string;
  readonly path: ReturnType<typeof pathOf>;
  readonly onClose: () => void;
  readonly onAdded: (sentence: string) => void;
}

const AddDialog = ({ id, path, onClose, onAdded }: AddDialogProps) => (
  <ActionDialog
    title={text.serviceAccounts.addManager}
    onClose={onClose}
    act={async (fields) => {
      const accountId = fields.text('accountId').trim();
      await call(`PUT ${path}/:accountId`, { params: { id, accountId } });
      onAdded(text.serviceAccounts.managerAdded);
    }}
  >
    <Field
      label={text.serviceAccounts.managerId}
      name="accountId"
      look="code"
      autofocus
      pattern="\s*acc_[0-9A-Za-z]+\s*"
      hint={text.serviceAccounts.managerIdHint}
      codes={['manager_not_eligible']}
    />
  </ActionDialog>
);

interface RemoveDialogProps {
  readonly id: string;
  readonly path: ReturnType<typeof pathOf>;
  readonly isAdministered: boolean;
  readonly accountId: string;
  readonly onClose: () => void;
  readonly onRemoved: (sentence: string) => void;
}

function RemoveDialog({ id, path, isAdministered, accountId, onClose, onRemoved }: RemoveDialogProps) {
  const isLeaving = isSelf(accountId) && !isAdministered;
  const { route } = useLocation();
  return (
    <ActionDialog
      title={text.serviceAccounts.removeTitle}
      submit={text.general.remove}
      kind="danger"
      onClose={onClose}
      act={async () => {
        await call(`DELETE ${path}/:accountId`, { params: { id, accountId } });
        if (isLeaving) {
          announce(text.serviceAccounts.managerRemoved);
          route(`${root}/service-accounts`);
        } else onRemoved(text.serviceAccounts.managerRemoved);
      }}
    >
      <p>{isLeaving ? text.serviceAccounts.removeSelfIntro : text.serviceAccounts.removeIntro(labelOf(accountId))}</p>
    </ActionDialog>
  );
}
