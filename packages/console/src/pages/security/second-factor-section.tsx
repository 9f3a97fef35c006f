/** The second factor: set up and remove an authenticator app, and replace the recovery codes. */
import { useSignal } from '@preact/signals';
import { call } from '../../api.ts';
import type { Fields } from '../../fields.ts';
import { announce } from '../../parts/announce.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { ProofFields } from '../../parts/proof-fields.tsx';
import { Section } from '../../parts/section.tsx';
import { Setting } from '../../parts/setting.tsx';
import { prepareProof } from '../../recent-sign-in.ts';
import { useAction, useResource } from '../../resource.ts';
import { reloadSession, session } from '../../session.ts';
import { text } from '../../text/text.ts';
import { recoveryCodes } from './recovery-codes-dialog.tsx';
import { SecondFactorSetup } from './second-factor-setup.tsx';

type Opened = 'setUp' | 'remove' | 'replace';

export function SecondFactorSection() {
  const opened = useSignal<Opened>();
  const account = useResource((signal) => call('GET /auth/account', { signal }));
  const isOn = session.value?.account.secondFactor;
  const isRequired = account.value?.requiresSecondFactor;
  const open = async (dialog: Opened): Promise<void> => {
    if (await prepareProof()) opened.value = dialog;
  };
  const close = (): void => void (opened.value = undefined);
  return (
    <Section
      title={text.security.secondFactor}
      badge={<Badge tone={isOn ? 'good' : 'warning'}>{isOn ? text.security.on : text.security.off}</Badge>}
      description={isOn ? text.security.onIntro : text.security.offIntro}
      actions={
        !isOn && (
          <Button kind="primary" onClick={() => void open('setUp')}>
            {text.security.setUp}
          </Button>
        )
      }
    >
      {isOn && (
        <dl class="settings">
          <Setting
            label={text.security.recoveryCodes}
            action={<Button onClick={() => void open('replace')}>{text.security.replaceCodes}</Button>}
          >
            {text.security.recoveryCodesHint}
          </Setting>
          <Setting
            label={text.security.authenticatorApp}
            action={
              !isRequired && (
                <Button kind="danger" onClick={() => void open('remove')}>
                  {text.security.remove}
                </Button>
              )
            }
          >
            {isRequired ? text.security.requiredByPolicy : text.security.appHint}
          </Setting>
        </dl>
      )}
      {opened.value === 'setUp' && <SecondFactorSetup onClose={close} />}
      {opened.value === 'remove' && <RemoveDialog onClose={close} />}
      {opened.value === 'replace' && <ReplaceDialog onClose={close} />}
    </Section>
  );
}

function RemoveDialog({ onClose }: { readonly onClose: () => void }) {
  const action = useAction(async (fields: Fields) => {
    const body = { currentPassword: fields.text('currentPassword'), code: fields.text('code') };
    await call('DELETE /auth/account/second-factor', { body });
    onClose();
    announce(text.security.removed);
    await reloadSession();
  });
  return (
    <Dialog title={text.security.removeTitle} onClose={onClose}>
      <p>{text.security.removeIntro}</p>
      <Form
        action={action}
        submit={text.security.remove}
        kind="danger"
        others={<Button onClick={onClose}>{text.general.cancel}</Button>}
      >
        <ProofFields problem={action.problem} needsCode autofocus />
      </Form>
    </Dialog>
  );
}

function ReplaceDialog({ onClose }: { readonly onClose: () => void }) {
  const action = useAction(async (fields: Fields) => {
    const body = { currentPassword: fields.text('currentPassword'), code: fields.text('code') };
    const replaced = await call('POST /auth/account/recovery-codes', { body });
    onClose();
    recoveryCodes.value = replaced.recoveryCodes;
  });
  return (
    <Dialog title={text.security.replaceTitle} onClose={onClose}>
      <p>{text.security.replaceIntro}</p>
      <Form
        action={action}
        submit={text.security.replaceCodes}
        others={<Button onClick={onClose}>{text.general.cancel}</Button>}
      >
        <ProofFields problem={action.problem} needsCode autofocus />
      </Form>
    </Dialog>
  );
}
