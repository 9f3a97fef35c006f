/** The fields that prove who uses the session: the password, and for changes of a second factor a one-time code or a passkey. */
import { Field } from './field.tsx';
import { send } from '../api.ts';
import { session, setSession } from '../session.ts';
import { text } from '../text/text.ts';
import { Problem } from '../problem.ts';
import type { Fields } from '../fields.ts';
import { askForPasskey, type PasskeyResponse, type RequestOptions } from '../passkey.ts';

interface ProofFieldsProps {
  readonly needsCode?: boolean;
  /** Whether {@link sendProof} uses a passkey if the field for the code is empty. */
  readonly mayUsePasskey?: boolean;
  readonly autofocus?: boolean;
}

export const ProofFields = ({ needsCode = false, mayUsePasskey = false, autofocus = false }: ProofFieldsProps) => (
  <>
    {/* For password managers. */}
    <input type="text" autocomplete="username" value={session.value?.account.email} readOnly hidden />
    <Field
      label={text.general.currentPassword}
      name="currentPassword"
      type="password"
      autocomplete="current-password"
      autofocus={autofocus}
      codes={['password_wrong']}
    />
    {needsCode && (
      <Field
        label={text.general.oneTimeCode}
        name="code"
        autocomplete="one-time-code"
        isOptional={mayUsePasskey}
        hint={mayUsePasskey ? text.general.codeOrPasskey : text.general.codeOnce}
        codes={['second_factor_wrong']}
      />
    )}
  </>
);

interface Proof {
  readonly currentPassword: string;
  readonly code?: string;
  readonly passkey?: PasskeyResponse;
}

/**
 * Sends the password and the code of the fields, or without a code a passkey that the person chooses.
 * @throws Problem
 */
export async function sendProof<T>(fields: Fields, sendBody: (proof: Proof) => Promise<T>): Promise<T> {
  const currentPassword = fields.text('currentPassword');
  const code = fields.optional('code')?.trim();
  return sendBody({ currentPassword, ...(code ? { code } : { passkey: await askForFactor(currentPassword) }) });
}

/** The options are those of a sign-in with the password, which lacks the second factor. @throws Problem */
async function askForFactor(password: string): Promise<PasskeyResponse> {
  const email = session.peek()?.account.email ?? '';
  const problem = await send('POST /console/session', { body: { email, password } }).then(
    (view) => {
      setSession(view);
      return new Problem('second_factor_not_enrolled', 409);
    },
    (error: unknown) => error,
  );
  if (!(problem instanceof Problem)) throw problem;
  if (problem.code === 'invalid_credentials') throw new Problem('password_wrong', problem.status);
  const options = problem.body['passkey'];
  if (!options) throw problem;
  return askForPasskey(options as RequestOptions);
}
