/** Sets up an authenticator app: the password, then the secret as a QR code and the first one-time code. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { CopyField } from '../../parts/copy-field.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { ProofFields } from '../../parts/proof-fields.tsx';
import { Step } from '../../parts/step.tsx';
import { confirmByPassword } from '../../recent-sign-in.ts';
import { useAction } from '../../resource.ts';
import { text } from '../../text/text.ts';
import { QrCode } from './qr-code.tsx';
import { showRecoveryCodes } from './recovery-codes-dialog.tsx';

type Begun = ResponseOf<'POST /auth/account/second-factor'>;

export function SecondFactorSetup({ onClose }: { readonly onClose: () => void }) {
  const begun = useSignal<Begun>();
  return (
    <Dialog title={text.security.setUp} onClose={onClose}>
      {begun.value ? (
        <ConfirmStep begun={begun.value} onClose={onClose} />
      ) : (
        <PasswordStep onBegun={(value) => void (begun.value = value)} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface PasswordStepProps {
  readonly onBegun: (begun: Begun) => void;
  readonly onClose: () => void;
}

function PasswordStep({ onBegun, onClose }: PasswordStepProps) {
  const action = useAction(async (fields: Fields) => {
    const currentPassword = await confirmByPassword(fields);
    onBegun(await call('POST /auth/account/second-factor', { body: { currentPassword } }));
  });
  return (
    <>
      <p>{text.security.setUpIntro}</p>
      <Form action={action} submit={text.general.continue} onCancel={onClose}>
        <ProofFields autofocus />
      </Form>
    </>
  );
}

function ConfirmStep({ begun, onClose }: { readonly begun: Begun; readonly onClose: () => void }) {
  const action = useAction(async (fields: Fields) => {
    const code = fields.text('code').replaceAll(/\s/g, '');
    const confirmed = await call('POST /auth/account/second-factor/confirm', { body: { code } });
    onClose();
    await showRecoveryCodes(confirmed.recoveryCodes, text.security.appAdded);
  });
  return (
    <Step>
      <ol class="steps">
        <li>{text.security.scan}</li>
        <li>{text.security.enterCode}</li>
      </ol>
      <QrCode content={begun.uri} label={text.security.qrCode} />
      <CopyField label={text.security.secret} value={begun.secret} />
      <Form action={action} submit={text.security.turnOn} onCancel={onClose}>
        <Field
          label={text.security.codeOfApp}
          name="code"
          look="one-time-code"
          autofocus
          codes={['second_factor_wrong']}
        />
      </Form>
    </Step>
  );
}
