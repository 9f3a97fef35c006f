/** The fields that prove who uses the session: the password, and a one-time code for changes of a second factor. */
import { Field } from './field.tsx';
import { send } from '../api.ts';
import { session, setSession } from '../session.ts';
import { text } from '../text/text.ts';
import { Problem } from '../problem.ts';
import type { Fields } from '../fields.ts';
import { askForPasskey, hasPasskeys, type PasskeyResponse, type RequestOptions } from '../passkey.ts';

interface ProofFieldsProps {
  readonly problem: Problem | undefined;
  readonly needsCode?: boolean;
  /** Whether {@link sendProof} uses a passkey if the field for the code is empty. */
  readonly mayUsePasskey?: boolean;
  readonly autofocus?: boolean;
}

export const ProofFields = ({
  problem,
  needsCode = false,
  mayUsePasskey = false,
  autofocus = false,
}: ProofFieldsProps) => (
  <>
    {/* For password managers. */}
    <input type="text" autocomplete="username" value={session.value?.account.email} readOnly hidden />
    <Field
      label={text.general.currentPassword}
      name="currentPassword"
      type="password"
      autocomplete="current-password"
      autofocus={autofocus}
      error={problem?.code === 'password_wrong' ? problem.sentence : undefined}
    />
    {needsCode && (
      <Field
        label={text.general.oneTimeCode}
        name="code"
        autocomplete="one-time-code"
        isOptional={mayUsePasskey}
        hint={mayUsePasskey ? text.general.codeOrPasskey : text.general.codeOnce}
        error={problem?.code === 'second_factor_wrong' ? problem.sentence : undefined}
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
  if (code || !hasPasskeys()) return sendBody({ currentPassword, ...(code ? { code } : {}) });
  const passkey = await askForPasskey(await optionsFor(currentPassword));
  return sendBody({ currentPassword, passkey });
}

/** The options of the second factor are those of a sign-in that lacks it. @throws Problem */
async function optionsFor(password: string): Promise<RequestOptions | undefined> {
  const email = session.peek()?.account.email ?? '';
  try {
    setSession(await send('POST /console/session', { body: { email, password } }));
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === 'invalid_credentials') throw new Problem('password_wrong', error.status);
    if (error.code !== 'second_factor_required') throw error;
    return error.body['passkey'] as RequestOptions | undefined;
  }
}
