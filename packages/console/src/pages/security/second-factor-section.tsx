/** The second factor: set up and remove an authenticator app, and replace the recovery codes. */
import { useSignal } from '@preact/signals';
import { call } from '../../api.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { announce } from '../../parts/announce.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { ProofFields, sendProof } from '../../parts/proof-fields.tsx';
import { Section } from '../../parts/section.tsx';
import { Setting } from '../../parts/setting.tsx';
import { hasPasskeys } from '../../passkey.ts';
import { prepareProof } from '../../recent-sign-in.ts';
import { useResource } from '../../resource.ts';
import { reloadSession, session } from '../../session.ts';
import { text } from '../../text/text.ts';
import { recoveryCodes } from './recovery-codes.ts';
import { SecondFactorSetup } from './second-factor-setup.tsx';

type Opened = 'setUp' | 'remove' | 'replace';

export function SecondFactorSection() {
  const opened = useSignal<Opened>();
  const account = useResource((signal) => {
    // Another load after each change of the session.
    void session.value;
    return call('GET /auth/account', { signal });
  });
  const isOn = session.value?.account.secondFactor;
  const { authenticator: hasApp, requiresSecondFactor, passkeys = 0 } = account.value ?? {};
  const mayUsePasskey = passkeys > 0 && hasPasskeys();
  const isOnlyFactor = requiresSecondFactor && passkeys === 0;
  const setUp = (
    <Button kind={isOn ? 'plain' : 'primary'} onClick={() => void open('setUp')}>
      {text.security.setUp}
    </Button>
  );
  const open = async (dialog: Opened): Promise<void> => {
    if (await prepareProof()) opened.value = dialog;
  };
  const close = (): void => void (opened.value = undefined);
  return (
    <Section
      title={text.security.secondFactor}
      badge={<Badge tone={isOn ? 'good' : 'warning'}>{isOn ? text.security.on : text.security.off}</Badge>}
      description={isOn ? text.security.onIntro : text.security.offIntro}
      actions={!isOn && setUp}
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
              hasApp === false
                ? setUp
                : hasApp &&
                  !isOnlyFactor && (
                    <Button kind="danger" onClick={() => void open('remove')}>
                      {text.general.remove}
                    </Button>
                  )
            }
          >
            {hasApp === false
              ? text.security.appNotSetUp
              : isOnlyFactor
                ? text.security.requiredByPolicy
                : text.security.appHint}
          </Setting>
        </dl>
      )}
      {opened.value === 'setUp' && <SecondFactorSetup onClose={close} />}
      {opened.value === 'remove' && <RemoveDialog mayUsePasskey={mayUsePasskey} onClose={close} />}
      {opened.value === 'replace' && <ReplaceDialog mayUsePasskey={mayUsePasskey} onClose={close} />}
    </Section>
  );
}

interface ProofDialogProps {
  readonly mayUsePasskey: boolean;
  readonly onClose: () => void;
}

const RemoveDialog = ({ mayUsePasskey, onClose }: ProofDialogProps) => (
  <ActionDialog
    title={text.security.removeTitle}
    submit={text.general.remove}
    kind="danger"
    onClose={onClose}
    act={async (fields) => {
      await sendProof(fields, (body) => call('DELETE /auth/account/second-factor', { body }));
      announce(text.security.removed);
      await reloadSession();
    }}
  >
    <p>{text.security.removeIntro}</p>
    <ProofFields needsCode mayUsePasskey={mayUsePasskey} autofocus />
  </ActionDialog>
);

const ReplaceDialog = ({ mayUsePasskey, onClose }: ProofDialogProps) => (
  <ActionDialog
    title={text.security.replaceTitle}
    submit={text.security.replaceCodes}
    onClose={onClose}
    act={async (fields) => {
      const created = await sendProof(fields, (body) => call('POST /auth/account/recovery-codes', { body }));
      recoveryCodes.value = created.recoveryCodes;
    }}
  >
    <p>{text.security.replaceIntro}</p>
    <ProofFields needsCode mayUsePasskey={mayUsePasskey} autofocus />
  </ActionDialog>
);
