/** The managers of a service account. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { call, type ResponseOf } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { announce } from '../../parts/announce.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/section.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useAction, useResource } from '../../resource.ts';
import { session } from '../../session.ts';
import { text } from '../../text/text.ts';

type Manager = ResponseOf<'GET /auth/service-accounts/:id/managers'>['managers'][number];

const isSelf = (accountId: string): boolean => accountId === session.value?.account.id;

export function ManagersSection({ id }: { readonly id: string }) {
  const isAdding = useSignal(false);
  const removed = useSignal<string>();
  const managers = useResource((signal) => call('GET /auth/service-accounts/:id/managers', { params: { id }, signal }));
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
      {isAdding.value && <AddDialog id={id} onClose={() => void (isAdding.value = false)} onAdded={onChanged} />}
      {removed.value && (
        <RemoveDialog
          id={id}
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
        <span class="code">{accountId}</span> {isSelf(accountId) && <Badge>{text.serviceAccounts.you}</Badge>}
      </>
    ),
  },
  { label: text.serviceAccounts.added, cell: ({ addedAt }) => <Time at={addedAt} as="date" /> },
  {
    label: text.general.actions,
    isLabelHidden: true,
    align: 'end',
    cell: ({ accountId }) => (
      <Button kind="quiet" isSmall onClick={() => onRemove(accountId)}>
        {text.serviceAccounts.remove}
        <span class="visually-hidden"> {accountId}</span>
      </Button>
    ),
  },
];

interface AddDialogProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly onAdded: (sentence: string) => void;
}

function AddDialog({ id, onClose, onAdded }: AddDialogProps) {
  const action = useAction(async (fields: Fields) => {
    const accountId = fields.text('accountId').trim();
    await call('PUT /auth/service-accounts/:id/managers/:accountId', { params: { id, accountId } });
    onClose();
    onAdded(text.serviceAccounts.managerAdded);
  });
  const { problem } = action;
  return (
    <Dialog title={text.serviceAccounts.addManager} onClose={onClose}>
      <Form
        action={action}
        submit={text.serviceAccounts.addManager}
        others={<Button onClick={onClose}>{text.general.cancel}</Button>}
      >
        <Field
          label={text.serviceAccounts.managerId}
          name="accountId"
          look="code"
          autocomplete="off"
          spellcheck={false}
          autofocus
          pattern="\s*acc_[0-9A-Za-z]+\s*"
          hint={text.serviceAccounts.managerIdHint}
          error={problem?.code === 'manager_not_eligible' ? problem.sentence : undefined}
        />
      </Form>
    </Dialog>
  );
}

interface RemoveDialogProps {
  readonly id: string;
  readonly accountId: string;
  readonly onClose: () => void;
  readonly onRemoved: (sentence: string) => void;
}

function RemoveDialog({ id, accountId, onClose, onRemoved }: RemoveDialogProps) {
  const { route } = useLocation();
  const action = useAction(async () => {
    await call('DELETE /auth/service-accounts/:id/managers/:accountId', { params: { id, accountId } });
    onClose();
    if (isSelf(accountId)) {
      announce(text.serviceAccounts.managerRemoved);
      route('/console/service-accounts');
    } else onRemoved(text.serviceAccounts.managerRemoved);
  });
  return (
    <Dialog title={text.serviceAccounts.removeTitle} onClose={onClose}>
      <p>{isSelf(accountId) ? text.serviceAccounts.removeSelfIntro : text.serviceAccounts.removeIntro(accountId)}</p>
      <Form
        action={action}
        submit={text.serviceAccounts.remove}
        kind="danger"
        others={
          <Button autofocus onClick={onClose}>
            {text.general.cancel}
          </Button>
        }
      />
    </Dialog>
  );
}
