/** Sign-in with email address and password, then with a one-time code if the account has a second factor. */
import { useSignal } from '@preact/signals';
import { send } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { Problem } from '../../problem.ts';
import { useAction } from '../../resource.ts';
import { config, hasExpired, setSession } from '../../session.ts';
import { text } from '../../text/text.ts';

/** Kept in memory only while the second factor is asked for. */
interface Credentials {
  readonly email: string;
  readonly password: string;
}

export function SignInPage() {
  const pending = useSignal<Credentials>();
  const signIn = useAction(async (fields: Fields) => {
    const credentials = pending.value ?? { email: fields.text('email'), password: fields.text('password') };
    const code = fields.optional('code');
    try {
      setSession(await send('POST /console/session', { body: { ...credentials, ...(code ? { code } : {}) } }));
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'second_factor_required') throw error;
      pending.value = credentials;
    }
  });
  return (
    <Page title={text.signIn.title}>
      {hasExpired.value && <Notice>{text.general.sessionEnded}</Notice>}
      {pending.value ? (
        <Form
          key="code"
          action={signIn}
          submit={text.signIn.submit}
          others={<Button onClick={() => void (pending.value = undefined)}>{text.signIn.back}</Button>}
        >
          <Field label={text.general.oneTimeCode} name="code" autocomplete="one-time-code" autofocus />
        </Form>
      ) : (
        <Form key="password" action={signIn} submit={text.signIn.submit}>
          <Field label={text.signIn.email} name="email" type="email" autocomplete="username webauthn" autofocus />
          <Field label={text.general.password} name="password" type="password" autocomplete="current-password" />
        </Form>
      )}
      {config.value?.features.signUp && (
        <p>
          <a href="/console/sign-up">{text.signIn.toSignUp}</a>
        </p>
      )}
    </Page>
  );
}
