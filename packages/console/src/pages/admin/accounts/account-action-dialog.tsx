/** The dialog of an action on an account. */
import { call } from '../../../api.ts';
import type { Fields } from '../../../fields.ts';
import { formatDateTime } from '../../../format.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { announce } from '../../../parts/announce.tsx';
import { DeletionDialog } from '../../../parts/deletion-dialog.tsx';
import { Select } from '../../../parts/field.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { isDangerous, simplePaths, simpleTexts, type ActionName } from './account-actions.ts';
import { EmailField, nameOf, RoleSelect, type AccountDetail } from './account.tsx';

interface ActionDialogProps {
  readonly account: AccountDetail;
  readonly onClose: () => void;
  /** @param sentence about the success */
  readonly onDone: (sentence: string) => void;
  readonly onDeleted: () => void;
}

export function AccountActionDialog({ name, ...props }: ActionDialogProps & { readonly name: ActionName }) {
  switch (name) {
    case 'role':
      return <RoleDialog {...props} />;
    case 'email':
      return <EmailDialog {...props} />;
    case 'compromised':
      return <CompromisedDialog {...props} />;
    case 'delete':
      return <DeleteDialog {...props} />;
    default: {
      const { title, intro, submit, done } = simpleTexts(name);
      // The routes of these actions differ only in the path.
      const route = `POST /admin/accounts/:id/${simplePaths[name]}` as 'POST /admin/accounts/:id/disable';
      return (
        <ActionDialog
          title={title}
          submit={submit}
          kind={isDangerous(name) ? 'danger' : 'primary'}
          onClose={props.onClose}
          act={async () => {
            await call(route, { params: { id: props.account.id } });
            props.onDone(done);
          }}
        >
          <AccountName account={props.account} />
          <p>{intro}</p>
        </ActionDialog>
      );
    }
  }
}

const AccountName = ({ account }: { readonly account: AccountDetail }) => (
  <p>
    <strong>
      <bdi>{nameOf(account)}</bdi>
    </strong>
  </p>
);

const RoleDialog = ({ account, onClose, onDone }: ActionDialogProps) => (
  <ActionDialog
    title={adminText.accounts.changeRole}
    onClose={onClose}
    act={async (fields) => {
      const role = fields.text('role') as AccountDetail['role'];
      await call('PUT /admin/accounts/:id/role', { params: { id: account.id }, body: { role } });
      onDone(adminText.accounts.roleChanged);
    }}
  >
    <AccountName account={account} />
    <p>{adminText.accounts.changeRoleIntro}</p>
    <RoleSelect current={account.role} />
  </ActionDialog>
);

const EmailDialog = ({ account, onClose, onDone }: ActionDialogProps) => (
  <ActionDialog
    title={adminText.accounts.setEmail}
    onClose={onClose}
    act={async (fields) => {
      const email = fields.text('email').trim();
      await call('PUT /admin/accounts/:id/email', { params: { id: account.id }, body: { email } });
      onDone(adminText.accounts.emailSet(email));
    }}
  >
    <AccountName account={account} />
    <p>{adminText.accounts.setEmailIntro}</p>
    <EmailField label={text.account.newEmail} />
  </ActionDialog>
);

/** The value of the option for the present email address; the others are the previous email addresses. */
const current = '';

function recipientOf(fields: Fields, { emailChanges }: AccountDetail) {
  if (emailChanges.length === 0) return {};
  const previousEmail = fields.text('recipient');
  return previousEmail === current
    ? { body: { resetTo: 'current' as const } }
    : { body: { resetTo: 'previous' as const, previousEmail } };
}

function CompromisedDialog({ account, onClose, onDone }: ActionDialogProps) {
  const { accounts } = adminText;
  const previous = [...new Set(account.emailChanges.map(({ previousEmail }) => previousEmail))];
  return (
    <ActionDialog
      title={accounts.compromised}
      kind="danger"
      onClose={onClose}
      act={async (fields) => {
        const params = { id: account.id };
        await call('POST /admin/accounts/:id/compromised', { params, ...recipientOf(fields, account) });
        onDone(accounts.secured);
      }}
    >
      <AccountName account={account} />
      <p>{accounts.compromisedIntro}</p>
      <ul>
        {Object.entries(accounts.compromisedEffects).map(([name, effect]) => (
          <li key={name}>{effect}</li>
        ))}
      </ul>
      <p>{accounts.compromisedStays}</p>
      {previous.length > 0 && (
        <>
          {account.emailChanges.map(({ previousEmail, changedAt }) => (
            <p class="hint" key={changedAt}>
              {accounts.emailChanged(previousEmail, formatDateTime(changedAt))}
            </p>
          ))}
          <Select
            label={accounts.sendLinkTo}
            name="recipient"
            pointer="/previousEmail"
            options={[
              ...previous.map((email) => [email, accounts.previousEmail(email)] as const),
              [current, accounts.currentEmail(account.email ?? '')],
            ]}
          />
        </>
      )}
    </ActionDialog>
  );
}

function DeleteDialog({ account, onClose, onDeleted }: ActionDialogProps) {
  const name = nameOf(account);
  const { accounts } = adminText;
  return (
    <DeletionDialog
      title={accounts.deleteTitle}
      submit={accounts.delete}
      intro={accounts.deleteIntro}
      label={text.general.typeName(name)}
      name={name}
      onClose={onClose}
      remove={async () => {
        await call('DELETE /admin/accounts/:id', { params: { id: account.id } });
        announce(accounts.deleted(name));
        onDeleted();
      }}
    />
  );
}
