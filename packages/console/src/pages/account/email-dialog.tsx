/** Requests a change of the email address, which a link in a mail confirms. */
import { useSignal } from '@preact/signals';
import { call } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { ProofFields } from '../../parts/proof-fields.tsx';
import { Done } from '../../parts/step.tsx';
import { confirmByPassword } from '../../recent-sign-in.ts';
import { useAction } from '../../resource.ts';
import { text } from '../../text/text.ts';

export function EmailDialog({ onClose }: { readonly onClose: () => void }) {
  const sentTo = useSignal<string>();
  const action = useAction(async (fields: Fields) => {
    const email = fields.text('email').trim();
    const currentPassword = await confirmByPassword(fields);
    await call('PUT /auth/account/email', { body: { email, currentPassword } });
    sentTo.value = email;
  });
  return (
    <Dialog title={text.account.changeEmail} onClose={onClose}>
      {sentTo.value ? (
        <Done onClose={onClose}>{text.account.emailSent(sentTo.value)}</Done>
      ) : (
        <>
          <p>{text.account.emailIntro}</p>
          <Form action={action} submit={text.account.sendLink} onCancel={onClose}>
            <Field
              label={text.account.newEmail}
              name="email"
              type="email"
              autocomplete="email"
              autofocus
              codes={['email_invalid']}
            />
            <ProofFields />
          </Form>
        </>
      )}
    </Dialog>
  );
}
