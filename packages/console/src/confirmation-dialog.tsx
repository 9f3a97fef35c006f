/** Asks for the password again, and for a one-time code if the account has a second factor. */
import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { send, type RequestOf } from './api.ts';
import type { Fields } from './fields.ts';
import { useAction } from './resource.ts';
import { Button } from './parts/button.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Field } from './parts/field.tsx';
import { Form } from './parts/form.tsx';
import { ProblemNotice } from './parts/problem-notice.tsx';
import { askForPasskey, hasPasskeys } from './passkey.ts';
import { Problem } from './problem.ts';
import { config, session, setSession, type SessionView } from './session.ts';
import { SingleSignOnButton } from './single-sign-on-button.tsx';
import { text } from './text/text.ts';

type Confirmation = RequestOf<'POST /console/session/confirm'>['body'];

export function ConfirmationDialog({ settle }: { readonly settle: (isConfirmed: boolean) => void }) {
  const confirm = async (body: Confirmation): Promise<void> => {
    setSession(await send('POST /console/session/confirm', { body }));
    settle(true);
  };
  const usePasskey = useAction(async () => confirm({ passkey: await askForPasskey() }));
  return (
    <Dialog title={text.general.confirmTitle} onClose={() => settle(false)}>
      <p>{text.general.confirmIntro}</p>
      <OwnerForm submit={text.general.confirm} onCancel={() => settle(false)} prove={confirm} />
      {/* Without a second factor, the account has no passkey. */}
      {session.value?.account.secondFactor && hasPasskeys() && (
        <>
          <div class="divider">{text.signIn.or}</div>
          <Button icon="passkey" action={usePasskey}>
            {text.signIn.withPasskey}
          </Button>
          {usePasskey.problem && <ProblemNotice problem={usePasskey.problem} />}
        </>
      )}
      {session.value?.account.role === 'admin' && config.value?.features.singleSignOn && (
        <SingleSignOnButton isConfirmation />
      )}
    </Dialog>
  );
}

interface OwnerFormProps {
  readonly submit: string;
  readonly onCancel?: () => void;
  readonly others?: ComponentChildren;
  readonly prove: (proof: { password: string; code?: string }) => Promise<void>;
}

/** The password of the session's account, with a one-time code if necessary. */
export function OwnerForm({ submit, onCancel, others, prove }: OwnerFormProps) {
  const account: Partial<SessionView['account']> = session.value?.account ?? {};
  const needsCode = useSignal(account.secondFactor ?? false);
  const action = useAction(async (fields: Fields) => {
    const code = fields.optional('code');
    try {
      await prove({ password: fields.text('password'), ...(code ? { code } : {}) });
    } catch (error) {
      // The second factor was set up elsewhere.
      if (error instanceof Problem && error.code === 'second_factor_required') needsCode.value = true;
      // The email address is that of the session.
      if (error instanceof Problem && error.code === 'invalid_credentials')
        throw new Problem('password_wrong', error.status);
      throw error;
    }
  });
  return (
    <Form action={action} submit={submit} onCancel={onCancel} others={others}>
      {/* For password managers. */}
      <input type="text" autocomplete="username" value={account.email} readOnly hidden />
      <Field
        label={text.general.password}
        name="password"
        type="password"
        autocomplete="current-password"
        autofocus
        codes={['password_wrong']}
      />
      {needsCode.value && (
        <Field
          label={text.general.oneTimeCode}
          name="code"
          autocomplete="one-time-code"
          autocapitalize="none"
          spellcheck={false}
          codes={['second_factor_required', 'second_factor_invalid']}
        />
      )}
    </Form>
  );
}
