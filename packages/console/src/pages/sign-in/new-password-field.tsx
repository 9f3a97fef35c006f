/** A field for a new password, with the rule for it and the errors of the server about it. */
import { Field } from '../../parts/field.tsx';
import type { Problem } from '../../problem.ts';
import { config } from '../../session.ts';
import { text } from '../../text/text.ts';

/** Whether the field shows the problem. */
export const concernsPassword = (problem: Problem | undefined): boolean =>
  problem?.code.startsWith('password_') === true && problem.code !== 'password_wrong';

interface NewPasswordFieldProps {
  readonly label: string;
  readonly name: string;
  readonly problem: Problem | undefined;
}

export const NewPasswordField = ({ label, name, problem }: NewPasswordFieldProps) => {
  const lengthMin = config.value?.features.passwordLengthMin ?? 1;
  return (
    <Field
      label={label}
      name={name}
      type="password"
      autocomplete="new-password"
      minLength={lengthMin}
      hint={text.signIn.passwordRule(lengthMin)}
      error={concernsPassword(problem) ? problem?.sentence : undefined}
    />
  );
};
