/** A field for a new password, with the rule for it and the errors of the server about it. */
import { Field } from '../../parts/field.tsx';
import { config } from '../../session.ts';
import { text } from '../../text/text.ts';

/** What is wrong with a new password. */
export const newPasswordCodes = ['too_short', 'too_long', 'invalid', 'context', 'common'].map(
  (end) => `password_${end}`,
);

export const NewPasswordField = () => {
  const lengthMin = config.value?.features.passwordLengthMin ?? 1;
  return (
    <Field
      label={text.general.password}
      name="password"
      type="password"
      autocomplete="new-password"
      minLength={lengthMin}
      hint={text.signIn.passwordRule(lengthMin)}
      codes={newPasswordCodes}
    />
  );
};
