/**
 * Sign-in. Its states: `password` asks for email address and password or a passkey, the others for the second factor. No state shows whether an email address has an account.
 */
import { batch, useSignal, useSignalEffect } from '@preact/signals';
import { send, type ResponseOf } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { keepCode } from '../../linked-code.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { askForPasskey, hasPasskeys, offerPasskeys, type PasskeyResponse, type RequestOptions } from '../../passkey.ts';
import { ownOrigin } from '../../own-origin.ts';
import { Problem } from '../../problem.ts';
import { useAction, type Action } from '../../resource.ts';
import { config, endReason, setSession } from '../../session.ts';
import { SingleSignOnButton } from '../../single-sign-on-button.tsx';
import { text } from '../../text/text.ts';
import { basePath, root } from '../../root.ts';

/** Members of the problem `second_factor_required`. */
interface SecondFactorRequired {
  readonly methods?: readonly string[];
  readonly passkey?: RequestOptions;
}

type Step = 'password' | 'code' | 'recovery' | 'passkey';
type FactorStep = Exclude<Step, 'password'>;

/** What follows an accepted password. Kept in memory only until the second factor is sent, or the person goes back. */
interface SecondFactor {
  readonly credentials: { readonly email: string; readonly password: string };
  /** For a passkey as the second factor. */
  readonly options: RequestOptions | undefined;
  /** The second factor of the account that is asked for first. */
  readonly firstChoice: FactorStep;
}

export function SignInPage() {
  const step = useSignal<Step>('password');
  const second = useSignal<SecondFactor>();
  const email = useSignal('');
  const signIn = useAction(async (fields: Fields) => {
    const credentials = second.value?.credentials ?? {
      email: fields.text('email').trim(),
      password: fields.text('password'),
    };
    email.value = credentials.email;
    const code = fields.optional('code')?.trim();
    try {
      enter(await send('POST /console/session', { body: { ...credentials, ...(code ? { code } : {}) } }));
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'second_factor_required') throw error;
      const { methods = ['code'], passkey } = error.body as SecondFactorRequired;
      const options = hasPasskeys() ? passkey : undefined;
      const firstChoice = methods.includes('code') ? 'code' : options ? 'passkey' : 'recovery';
      batch(() => {
        second.value = { credentials, options, firstChoice };
        step.value = firstChoice;
      });
    }
  });
  const usePasskey = useAction(async (chosen?: PasskeyResponse) => {
    signIn.clear();
    // A suggested passkey signs in alone: the server accepts the credentials only with a response to the options sent for them.
    const { credentials, options } = (chosen ? undefined : second.value) ?? {};
    const passkey = chosen ?? (await askForPasskey(options));
    enter(await send('POST /console/session/passkey', { body: { ...credentials, passkey } }));
  });
  const go = (next: Step): void => {
    if (next === 'password') second.value = undefined;
    signIn.clear();
    usePasskey.clear();
    step.value = next;
  };
  return step.value === 'password' || !second.value ? (
    <PasswordStep action={signIn} passkey={usePasskey} email={email.value} />
  ) : (
    <SecondFactorStep
      action={signIn}
      passkey={second.value.options && usePasskey}
      step={step.value}
      firstChoice={second.value.firstChoice}
      go={go}
    />
  );
}

const enter = (view: ResponseOf<'POST /console/session'>): void => setSession(view);

type PasskeyAction = Action<[chosen?: PasskeyResponse]>;

interface StepProps {
  readonly action: Action<[fields: Fields]>;
}

interface PasswordStepProps extends StepProps {
  readonly passkey: PasskeyAction;
  readonly email: string;
}

function PasswordStep({ action, passkey, email }: PasswordStepProps) {
  const { signUp, mail, singleSignOn } = config.value?.features ?? {};
  // Another request for a passkey, or a password, ends the offer in the suggestions.
  const isOffered = useSignal(hasPasskeys());
  // For the links below.
  useSignalEffect(keepCode);
  useSignalEffect(() => (isOffered.value ? offerPasskeys((chosen) => void passkey.run(chosen)) : undefined));
  return (
    <Page title={text.signIn.title} key="password">
      <OriginNotice />
      {endReason.value && <Notice role="status">{text.signIn.endReasons[endReason.value]}</Notice>}
      <Form action={action} submit={text.signIn.title}>
        <Field
          label={text.general.email}
          name="email"
          type="email"
          autocomplete="username webauthn"
          defaultValue={email}
          autofocus
        />
        <Field
          label={text.general.password}
          name="password"
          type="password"
          autocomplete="current-password"
          onInput={() => void (isOffered.value = false)}
        />
      </Form>
      {(hasPasskeys() || singleSignOn) && <div class="divider">{text.signIn.or}</div>}
      {hasPasskeys() && (
        <PasskeyButton
          action={passkey}
          isBlocked={action.isRunning}
          onStart={() => {
            isOffered.value = false;
            action.clear();
          }}
        />
      )}
      {singleSignOn && <SingleSignOnButton />}
      {(signUp || mail) && (
        <p class="entrance-links">
          {/* The pages for links in mail exist without the console. */}
          {mail && <a href={`${basePath}/account/reset-password`}>{text.signIn.toReset}</a>}
          {signUp && (
            <span>
              {text.signIn.noAccount} <a href={`${root}/sign-up`}>{text.signIn.signUpTitle}</a>
            </span>
          )}
        </p>
      )}
    </Page>
  );
}

/** The server rejects sign-ins from another address of the installation, such as an IP address. */
export function OriginNotice() {
  const url = ownOrigin.value + root;
  return ownOrigin.value === location.origin ? null : (
    <Notice tone="warning">
      {text.signIn.otherOrigin} <a href={url}>{url}</a>
    </Notice>
  );
}

interface PasskeyButtonProps {
  readonly action: PasskeyAction;
  readonly kind?: 'primary' | 'plain';
  /** While the password or code is checked: the response decides whether a passkey is the first or the second factor. */
  readonly isBlocked: boolean;
  readonly onStart?: () => void;
}

/** Reports its own problem: it belongs to no field. */
function PasskeyButton({ action, kind = 'plain', isBlocked, onStart }: PasskeyButtonProps) {
  const start = (): void => {
    onStart?.();
    void action.run();
  };
  return (
    <>
      <Button
        icon="passkey"
        kind={kind}
        autofocus={kind === 'primary'}
        isBusy={action.isRunning}
        isBlocked={action.isRunning || isBlocked}
        onClick={start}
      >
        {text.signIn.withPasskey}
      </Button>
      {action.problem && <ProblemNotice problem={action.problem} />}
    </>
  );
}

interface SecondFactorStepProps extends StepProps {
  readonly passkey: PasskeyAction | undefined;
  readonly step: FactorStep;
  readonly firstChoice: FactorStep;
  readonly go: (step: Step) => void;
}

function SecondFactorStep({ action, passkey, step, firstChoice, go }: SecondFactorStepProps) {
  const isRecovery = step === 'recovery';
  // While a code is checked: the response signs in, or belongs to this step.
  const link = { kind: 'link', isBlocked: action.isRunning } as const;
  const { title, intro } = text.signIn.steps[step];
  return (
    <Page key={step} title={title} intro={intro}>
      {step === 'passkey' ? null : <CodeForm action={action} isRecovery={isRecovery} />}
      {passkey && !isRecovery && (
        <>
          {step === 'code' && <div class="divider">{text.signIn.or}</div>}
          <PasskeyButton
            action={passkey}
            kind={step === 'passkey' ? 'primary' : 'plain'}
            isBlocked={action.isRunning}
          />
        </>
      )}
      <div class="entrance-links">
        {!isRecovery && (
          <Button {...link} onClick={() => go('recovery')}>
            {text.signIn.toRecovery}
          </Button>
        )}
        {isRecovery && firstChoice !== 'recovery' && (
          <Button {...link} onClick={() => go(firstChoice)}>
            {firstChoice === 'code' ? text.signIn.toCode : text.signIn.withPasskey}
          </Button>
        )}
        <Button {...link} onClick={() => go('password')}>
          {text.signIn.back}
        </Button>
      </div>
    </Page>
  );
}

function CodeForm({ action, isRecovery }: StepProps & { readonly isRecovery: boolean }) {
  const isWrong = action.problem?.code === 'second_factor_invalid';
  return (
    <Form action={action} submit={text.signIn.title}>
      {isRecovery ? (
        <Field
          label={text.signIn.recoveryCode}
          name="code"
          look="code"
          error={isWrong ? text.signIn.recoveryCodeWrong : undefined}
          autofocus
        />
      ) : (
        <Field
          label={text.signIn.code}
          name="code"
          look="one-time-code"
          pattern="\s*\d{3}\s*\d{3}\s*"
          maxLength={12}
          title={text.signIn.codeRule}
          error={isWrong ? text.signIn.codeWrong : undefined}
          autofocus
        />
      )}
    </Form>
  );
}
