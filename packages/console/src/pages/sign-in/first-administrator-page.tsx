/** Creates the first administrator with the one-time code of the installation, and signs in. */
import { send } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { Problem } from '../../problem.ts';
import { useAction } from '../../resource.ts';
import { config, endReason, setSession } from '../../session.ts';
import { text } from '../../text/text.ts';
import { OriginNotice } from './sign-in-page.tsx';
import { NewPasswordField } from './new-password-field.tsx';

const command = 'keyreeve admin bootstrap --output setup-code';

/** The code in the fragment of the link that the terminal shows. It leaves the URL, which screens and histories show. */
function takeCode(): string {
  const [, code = ''] = /^#(krvc_\w+)$/.exec(location.hash) ?? [];
  if (code !== '') history.replaceState(history.state, '', location.pathname + location.search);
  return code;
}

const linkedCode = takeCode();

export function FirstAdministratorPage() {
  const create = useAction(async (fields: Fields) => {
    const body = { email: fields.text('email').trim(), password: fields.text('password') };
    try {
      await send('POST /auth/first-administrator', { body: { code: fields.text('code').trim(), ...body } });
    } catch (error) {
      if (error instanceof Problem && error.code === 'code_invalid') await checkAdministrator();
      throw error;
    }
    try {
      setSession(await send('POST /console/session', { body }));
    } finally {
      config.value = withAdministrator();
    }
  });
  return (
    <Page title={text.signIn.firstTitle} intro={text.signIn.firstIntro}>
      <OriginNotice />
      <Form action={create} submit={text.signIn.firstSubmit}>
        <Field
          label={text.signIn.firstCode}
          name="code"
          look="code"
          placeholder="krvc_…"
          codes={['code_invalid']}
          defaultValue={linkedCode}
          autofocus={linkedCode === ''}
        />
        <details>
          <summary>{text.signIn.whereTitle}</summary>
          <div class="stack tight hint">
            <p>{text.signIn.whereFile}</p>
            <p>{text.signIn.whereCommand}</p>
            <CodeBlock label={text.signIn.whereCommandLabel} code={command} />
          </div>
        </details>
        <Field
          label={text.general.email}
          name="email"
          type="email"
          autocomplete="username"
          codes={['email_invalid']}
          autofocus={linkedCode !== ''}
        />
        <NewPasswordField />
      </Form>
    </Page>
  );
}

const withAdministrator = () => config.value && { ...config.value, needsAdministrator: false };

/** No code is valid after another person has created the administrator: the sign-in page follows. */
async function checkAdministrator(): Promise<void> {
  const current = await send('GET /console/config', { isBackground: true }).catch(() => undefined);
  if (!current || current.needsAdministrator) return;
  endReason.value = 'hasAdministrator';
  config.value = current;
}
