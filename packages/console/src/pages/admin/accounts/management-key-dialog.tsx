/** Creates a management key, with its service account or for an existing one, then shows its secret. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call, type ResponseOf } from '../../../api.ts';
import { useLive } from '../../../live.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { announce } from '../../../parts/announce.tsx';
import { CopyField } from '../../../parts/copy-field.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field, Select, TextArea } from '../../../parts/field.tsx';
import { FirstUse } from '../../../parts/first-use.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { ProofFields, sendProof } from '../../../parts/proof-fields.tsx';
import { SecretDialog } from '../../../parts/secret-dialog.tsx';
import { hasPasskeys } from '../../../passkey.ts';
import { useResource } from '../../../resource.ts';
import { root } from '../../../root.ts';
import { config, session } from '../../../session.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { manageCommand } from '../../keys/key-commands.ts';
import { addressesOf } from '../../keys/key-fields.tsx';

export type CreatedManagementKey = ResponseOf<'POST /admin/management-keys'>;

interface ManagementKeyDialogProps {
  /** An existing service account; absent for a new one. */
  readonly accountId?: string;
  /** @param created absent if the person cancelled */
  readonly onClose: (created?: CreatedManagementKey) => void;
}

const dayMs = 86_400_000;
/** The browser's clock may be ahead of the server's. */
const clockMarginMs = 60_000;

/** Within the lifetime that the operator permits. */
function daysOffered(): readonly number[] {
  const longest = config.value?.features.keyDaysMax || Infinity;
  const offered = [30, 90, 365].filter((days) => days <= longest);
  return offered.length > 0 ? offered : [longest];
}

export function ManagementKeyDialog({ accountId, onClose }: ManagementKeyDialogProps) {
  const texts = adminText.managementKeys;
  const created = useSignal<CreatedManagementKey>();
  const own = useResource((signal) => call('GET /auth/account', { signal }));
  if (created.value) return <CreatedDialog created={created.value} onClose={() => onClose(created.peek())} />;
  if (!session.value?.account.secondFactor)
    return (
      <Dialog title={texts.create} onClose={() => onClose()}>
        <Notice tone="warning">
          <p>{texts.needsFactor}</p>
        </Notice>
        <p>
          <a href={`${root}/security`}>{texts.setUpFactor}</a>
        </p>
      </Dialog>
    );
  const days = daysOffered();
  return (
    <ActionDialog
      title={texts.create}
      size="large"
      onClose={() => created.peek() === undefined && onClose()}
      act={async (fields) => {
        const name = fields.text('name').trim();
        const owner = accountId === undefined ? { name } : { accountId };
        const lifetimeMs = Number(fields.text('days')) * dayMs;
        const expiresAt = new Date(Date.now() + lifetimeMs - clockMarginMs).toISOString();
        const key = { ...owner, nickname: name, addresses: addressesOf(fields) ?? [], expiresAt };
        created.value = await sendProof(fields, (proof) =>
          call('POST /admin/management-keys', { body: { ...key, ...proof } }),
        );
      }}
    >
      <p>{texts.intro}</p>
      <Field
        label={accountId === undefined ? texts.name : text.keys.nickname}
        name="name"
        autocomplete="off"
        autofocus
        maxLength={256}
        hint={accountId === undefined ? texts.nameHint : texts.nicknameHint}
        codes={['name_taken', 'nickname_taken', 'nickname_invalid']}
      />
      <TextArea
        label={text.keys.addresses}
        name="addresses"
        look="code"
        hint={texts.addressesHint}
        pointer="/addresses"
        placeholder="203.0.113.7"
      />
      <Select
        label={text.keys.expires}
        name="days"
        pointer="/expiresAt"
        defaultValue={String(days.includes(90) ? 90 : days.at(-1))}
        options={days.map((offered) => [String(offered), text.keys.days(offered)])}
      />
      <ProofFields needsCode mayUsePasskey={Boolean(own.value?.passkeys) && hasPasskeys()} />
      <p class="muted">{texts.mailed}</p>
    </ActionDialog>
  );
}

interface CreatedDialogProps {
  readonly created: CreatedManagementKey;
  readonly onClose: () => void;
}

function CreatedDialog({ created: { serviceAccount, apiKey }, onClose }: CreatedDialogProps) {
  const texts = adminText.managementKeys;
  const params = { id: serviceAccount.id, keyId: apiKey.id };
  const { value, pause } = useLive((request) =>
    call('GET /admin/accounts/:id/api-keys/:keyId', { ...request, params }),
  );
  const isUsed = typeof value?.lastUsedAt === 'string';
  useEffect(() => {
    if (!isUsed) return;
    pause(true);
    announce(adminText.managementKeys.used);
    // oxlint-disable-next-line react/exhaustive-deps -- `pause` is another function in each rendering
  }, [isUsed]);
  const command = manageCommand(apiKey.key);
  return (
    <SecretDialog
      title={texts.created}
      secret={apiKey.key}
      onClose={onClose}
      examples={
        <>
          <CopyField label={text.keys.environmentLine} value={`MANAGEMENT_KEY=${apiKey.key}`} />
          {command !== undefined && <CopyField label={text.keys.tryIt} hint={texts.tryHint} value={command} />}
          <FirstUse isDone={isUsed} waiting={texts.waiting} done={texts.used} />
        </>
      }
    />
  );
}
