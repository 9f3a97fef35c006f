/** Changes the password. Every other session ends; API keys are deleted only if the person wants it. */
import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { plural } from '../../format.ts';
import { Choice } from '../../parts/choice.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { ProofFields } from '../../parts/proof-fields.tsx';
import { Done } from '../../parts/step.tsx';
import { useAction } from '../../resource.ts';
import { config } from '../../session.ts';
import { text } from '../../text/text.ts';
import { newPasswordCodes } from '../sign-in/new-password-field.tsx';

interface PasswordFormProps {
  readonly onClose: () => void;
  /** After the change, for example to load the sessions again. */
  readonly onChanged?: () => void;
  /** Above the fields, until the password has been changed. */
  readonly children?: ComponentChildren;
}

export function PasswordForm({ onClose, onChanged, children }: PasswordFormProps) {
  const changed = useSignal<ResponseOf<'PUT /auth/account/password'>>();
  const action = useAction(async (fields: Fields) => {
    const body = {
      currentPassword: fields.text('currentPassword'),
      newPassword: fields.text('newPassword'),
      revokeKeys: fields.isChecked('revokeKeys'),
    };
    changed.value = await call('PUT /auth/account/password', { body });
    onChanged?.();
  });
  if (changed.value) return <Changed keyCount={changed.value.apiKeys.length} onClose={onClose} />;
  return (
    <>
      {children ?? <p>{text.account.passwordIntro}</p>}
      <Form action={action} submit={text.account.changePassword} onCancel={onClose}>
        <ProofFields autofocus />
        <Field
          label={text.account.newPassword}
          name="newPassword"
          type="password"
          autocomplete="new-password"
          hint={text.account.passwordHint(config.value?.features.passwordLengthMin ?? 0)}
          codes={newPasswordCodes}
        />
        <Choice label={text.account.revokeKeys} name="revokeKeys" hint={text.account.revokeKeysHint} />
      </Form>
    </>
  );
}

function Changed({ keyCount, onClose }: { readonly keyCount: number; readonly onClose: () => void }) {
  return (
    <Done onClose={onClose}>
      <p>{text.account.passwordChanged}</p>
      {keyCount > 0 && (
        <p>{plural(keyCount, { one: text.account.keysContinueOne, other: text.account.keysContinue(keyCount) })}</p>
      )}
    </Done>
  );
}
