/** Asks for the password again, and for a one-time code if the account has a second factor. */
import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { send } from './api.ts';
import type { Fields } from './fields.ts';
import { useAction } from './resource.ts';
import { Button } from './parts/button.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Field } from './parts/field.tsx';
import { Form } from './parts/form.tsx';
import { Problem } from './problem.ts';
import { session, setSession, type SessionView } from './session.ts';
import { text } from './text/text.ts';

export const ConfirmationDialog = ({ settle }: { readonly settle: (isConfirmed: boolean) => void }) => (
  <Dialog title={text.general.confirmTitle} onClose={() => settle(false)}>
    <p>{text.general.confirmIntro}</p>
    <OwnerForm
      submit={text.general.confirm}
      others={<Button onClick={() => settle(false)}>{text.general.cancel}</Button>}
      prove={async (proof) => {
        setSession(await send('POST /console/session/confirm', { body: proof }));
        settle(true);
      }}
    />
  </Dialog>
);

interface OwnerFormProps {
  readonly submit: string;
  readonly others: ComponentChildren;
  readonly prove: (proof: { password: string; code?: string }) => Promise<void>;
}

/** The password of the session's account, with a one-time code if necessary. */
export function OwnerForm({ submit, others, prove }: OwnerFormProps) {
  const account: Partial<SessionView['account']> = session.value?.account ?? {};
  const needsCode = useSignal(account.secondFactor ?? false);
  const action = useAction(async (fields: Fields) => {
    const code = fields.optional('code');
    try {
      await prove({ password: fields.text('password'), ...(code ? { code } : {}) });
    } catch (error) {
      // The second factor was set up elsewhere.
      if (error instanceof Problem && error.code === 'second_factor_required') needsCode.value = true;
      throw error;
    }
  });
  return (
    <Form action={action} submit={submit} others={others}>
      {/* For password managers. */}
      <input type="text" autocomplete="username" value={account.email} readOnly hidden />
      <Field label={text.general.password} name="password" type="password" autocomplete="current-password" autofocus />
      {needsCode.value && (
        <Field
          label={text.general.oneTimeCode}
          name="code"
          autocomplete="one-time-code"
          autocapitalize="none"
          spellcheck={false}
        />
      )}
    </Form>
  );
}
