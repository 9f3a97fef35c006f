/** Invites a person by mail. */
import { call } from '../../../api.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { EmailField, RoleSelect, type AccountDetail } from './account.tsx';

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
    <EmailField label={text.general.email} />
    <RoleSelect current="user" />
  </ActionDialog>
);
