/** Sign-up with an email address. The answer is the same whether or not the email address has an account. */
import { useSignal } from '@preact/signals';
import { send } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { useAction } from '../../resource.ts';
import { text } from '../../text/text.ts';
import { NewPasswordField } from './new-password-field.tsx';
import { basePath, root } from '../../root.ts';

export function SignUpPage() {
  const sentTo = useSignal<string>();
  const signUp = useAction(async (fields: Fields) => {
    const email = fields.text('email').trim();
    await send('POST /auth/accounts', { body: { email, password: fields.text('password') } });
    sentTo.value = email;
  });
  const toSignIn = <a href={`${root}/sign-in`}>{text.signIn.title}</a>;
  if (sentTo.value)
    return (
      <Page key="sent" title={text.signIn.mailTitle} intro={text.signIn.mailSent(sentTo.value)}>
        <p class="entrance-links">
          <a href={`${basePath}/account/verify-email`}>{text.signIn.sendAgain}</a>
          {toSignIn}
        </p>
      </Page>
    );
  return (
    <Page key="form" title={text.signIn.signUpTitle}>
      <Form action={signUp} submit={text.signIn.signUpSubmit}>
        <Field
          label={text.general.email}
          name="email"
          type="email"
          autocomplete="username"
          codes={['email_invalid']}
          autofocus
        />
        <NewPasswordField />
      </Form>
      <p class="entrance-links">
        <span>
          {text.signIn.hasAccount} {toSignIn}
        </span>
      </p>
    </Page>
  );
}
