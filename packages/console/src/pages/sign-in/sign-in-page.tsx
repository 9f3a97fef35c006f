/**
 * Sign-in. Its states: `password` asks for email address and password, `code` and `recovery` for the second factor. No
 * state shows whether an email address has an account.
 */
import { useSignal } from '@preact/signals';
import { send, type ResponseOf } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { Problem } from '../../problem.ts';
import { useAction, type Action } from '../../resource.ts';
import { config, endReason, setSession } from '../../session.ts';
import { text } from '../../text/text.ts';

/** Kept in memory only until the second factor is sent, or the person goes back. */
interface Credentials {
  readonly email: string;
  readonly password: string;
}

type Step = 'password' | 'code' | 'recovery';

export function SignInPage() {
  const step = useSignal<Step>('password');
  const credentials = useSignal<Credentials>();
  const email = useSignal('');
  const signIn = useAction(async (fields: Fields) => {
    const { email: address, password } = credentials.value ?? {
      email: fields.text('email').trim(),
      password: fields.text('password'),
    };
    email.value = address;
    const code = fields.optional('code')?.trim();
    try {
      const body = { email: address, password, ...(code ? { code } : {}) };
      enter(await send('POST /console/session', { body }));
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'second_factor_required') throw error;
      credentials.value = { email: address, password };
      step.value = 'code';
    }
  });
  const go = (next: Step): void => {
    if (next === 'password') credentials.value = undefined;
    signIn.clear();
    step.value = next;
  };
  return step.value === 'password' ? (
    <PasswordStep action={signIn} email={email.value} />
  ) : (
    <SecondFactorStep action={signIn} isRecovery={step.value === 'recovery'} go={go} />
  );
}

const enter = (view: ResponseOf<'POST /console/session'>): void => setSession(view);

interface StepProps {
  readonly action: Action<[fields: Fields]>;
}

function PasswordStep({ action, email }: StepProps & { readonly email: string }) {
  const { signUp, mail } = config.value?.features ?? {};
  return (
    <Page title={text.signIn.title} key="password">
      {endReason.value && <Notice role="status">{text.signIn.endReasons[endReason.value]}</Notice>}
      <Form action={action} submit={text.signIn.submit}>
        <Field
          label={text.signIn.email}
          name="email"
          type="email"
          autocomplete="username webauthn"
          defaultValue={email}
          autofocus
        />
        <Field label={text.general.password} name="password" type="password" autocomplete="current-password" />
      </Form>
      {(signUp || mail) && (
        <p class="entrance-links">
          {/* The pages for links in mail exist without the console. */}
          {mail && <a href="/account/reset-password">{text.signIn.toReset}</a>}
          {signUp && (
            <span>
              {text.signIn.noAccount} <a href="/console/sign-up">{text.signIn.toSignUp}</a>
            </span>
          )}
        </p>
      )}
    </Page>
  );
}

interface SecondFactorStepProps extends StepProps {
  readonly isRecovery: boolean;
  readonly go: (step: Step) => void;
}

function SecondFactorStep({ action, isRecovery, go }: SecondFactorStepProps) {
  const { problem } = action;
  const isWrong = problem?.code === 'second_factor_invalid';
  return (
    <Page
      key={isRecovery ? 'recovery' : 'code'}
      title={isRecovery ? text.signIn.recoveryTitle : text.signIn.codeTitle}
      intro={isRecovery ? text.signIn.recoveryIntro : text.signIn.codeIntro}
    >
      <Form action={action} submit={text.signIn.submit} hasFieldError={isWrong}>
        {isRecovery ? (
          <Field
            label={text.signIn.recoveryCode}
            name="code"
            look="code"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            error={isWrong ? text.signIn.recoveryCodeWrong : undefined}
            autofocus
          />
        ) : (
          <Field
            label={text.signIn.code}
            name="code"
            look="one-time-code"
            inputMode="numeric"
            autocomplete="one-time-code"
            pattern="\s*\d{3}\s*\d{3}\s*"
            maxLength={12}
            title={text.signIn.codeRule}
            error={isWrong ? text.signIn.codeWrong : undefined}
            autofocus
          />
        )}
      </Form>
      <div class="entrance-links">
        <Button kind="link" onClick={() => go(isRecovery ? 'code' : 'recovery')}>
          {isRecovery ? text.signIn.toCode : text.signIn.toRecovery}
        </Button>
        <Button kind="link" onClick={() => go('password')}>
          {text.signIn.back}
        </Button>
      </div>
    </Page>
  );
}
