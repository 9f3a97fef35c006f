/** Invites a person by mail. */
import { call } from '../../../api.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import type { AccountDetail } from './account.tsx';

interface InviteDialogProps {
  readonly onClose: () => void;
  readonly onInvited: (account: AccountDetail) => void;
}

export const InviteDialog = ({ onClose, onInvited }: InviteDialogProps) => (
  <ActionDialog
    title={adminText.accounts.inviteTitle}
    submit={adminText.accounts.invite}
    onClose={onClose}
    act={async (fields) => {
      const role = fields.text('role') as 'user' | 'admin';
      onInvited(await call('POST /admin/accounts', { body: { email: fields.text('email').trim(), role } }));
    }}
  >
    <p>{adminText.accounts.inviteIntro}</p>
    <Field
      label={text.general.email}
      name="email"
      type="email"
      autocomplete="off"
      autofocus
      codes={['email_invalid', 'account_exists']}
    />
    <Select
      label={text.account.role}
      name="role"
      defaultValue="user"
      options={(['user', 'admin'] as const).map((role) => [role, adminText.accounts.roles[role]] as const)}
    />
  </ActionDialog>
);
