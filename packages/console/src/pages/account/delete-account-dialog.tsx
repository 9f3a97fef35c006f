/** Deletes the account after the person has typed its email address and password. */
import { useSignal } from '@preact/signals';
import { call } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { ProofFields } from '../../parts/proof-fields.tsx';
import { Done } from '../../parts/step.tsx';
import { Problem } from '../../problem.ts';
import { confirmByPassword } from '../../recent-sign-in.ts';
import { useAction } from '../../resource.ts';
import { session, showsServiceAccounts } from '../../session.ts';
import { text } from '../../text/text.ts';

interface DeleteAccountDialogProps {
  readonly email: string;
  readonly onClose: () => void;
}

export function DeleteAccountDialog({ email, onClose }: DeleteAccountDialogProps) {
  const isDeleted = useSignal(false);
  const action = useAction(async (fields: Fields) => {
    if (fields.text('email').trim().toLowerCase() !== email.toLowerCase()) throw new Problem('email_differs', 0);
    const currentPassword = await confirmByPassword(fields);
    await call('DELETE /auth/account', { body: { currentPassword } });
    isDeleted.value = true;
  });
  // The session ended with the account.
  const leave = (): void => void (session.value = null);
  if (isDeleted.value)
    return (
      <Dialog title={text.account.deletedTitle} onClose={leave}>
        <Done onClose={leave}>{text.account.deleted}</Done>
      </Dialog>
    );
  return (
    <Dialog title={text.account.deleteTitle} onClose={onClose}>
      <p>{text.account.deleteIntro}</p>
      <ul>
        <li>{text.account.deletesKeys}</li>
        <li>{text.account.deletesSessions}</li>
        {showsServiceAccounts.value && <li>{text.account.keepsServiceAccounts}</li>}
      </ul>
      <Form action={action} submit={text.account.deleteAccount} kind="danger" onCancel={onClose}>
        <Field
          label={text.account.typeEmail(email)}
          name="email"
          autocomplete="off"
          autofocus
          codes={['email_differs']}
        />
        <ProofFields />
      </Form>
    </Dialog>
  );
}
