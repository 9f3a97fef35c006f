/** The fields that prove who uses the session: the password, and a one-time code for changes of a second factor. */
import { Field } from './field.tsx';
import { session } from '../session.ts';
import { text } from '../text/text.ts';
import type { Problem } from '../problem.ts';

interface ProofFieldsProps {
  readonly problem: Problem | undefined;
  readonly needsCode?: boolean;
  readonly autofocus?: boolean;
}

export const ProofFields = ({ problem, needsCode = false, autofocus = false }: ProofFieldsProps) => (
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
        hint={text.general.codeOnce}
        error={problem?.code === 'second_factor_wrong' ? problem.sentence : undefined}
      />
    )}
  </>
);
