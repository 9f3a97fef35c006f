/** The passkeys of the account: add, rename, remove. */
import { useSignal } from '@preact/signals';
import { call } from '../../api.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { announce } from '../../parts/announce.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/section.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { prepareRecent } from '../../recent-sign-in.ts';
import { useResource } from '../../resource.ts';
import { reloadSession } from '../../session.ts';
import { text } from '../../text/text.ts';
import { canCreatePasskeys, createPasskey, signalRemoval, type PasskeyList } from './create-passkey.ts';
import { deviceText } from './device.ts';
import { showRecoveryCodes } from './recovery-codes-dialog.tsx';

type Passkey = PasskeyList['passkeys'][number];
type Opened = { readonly action: 'add' } | { readonly action: 'rename' | 'remove'; readonly passkey: Passkey };

/** @param onChanged after other sessions have ended */
export function PasskeysSection({ onChanged }: { readonly onChanged: () => void }) {
  const opened = useSignal<Opened>();
  const list = useResource((signal) => call('GET /auth/passkeys', { signal }));
  const open = async (next: Opened): Promise<void> => {
    if (next.action === 'rename' || (await prepareRecent())) opened.value = next;
  };
  const reload = async (): Promise<void> => {
    await list.reload();
    onChanged();
  };
  const canAdd = canCreatePasskeys();
  return (
    <Section
      title={text.security.passkeys}
      description={canAdd ? text.security.passkeysIntro : text.security.noPasskeySupport}
      actions={canAdd && <Button onClick={() => void open({ action: 'add' })}>{text.security.addPasskey}</Button>}
    >
      <Loaded of={list} rows={1}>
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            <p class="muted">{text.security.noPasskeys}</p>
          ) : (
            <Table
              label={text.security.passkeys}
              columns={columnsOf((next) => void open(next))}
              rows={passkeys}
              keyOf={({ id }) => id}
            />
          )
        }
      </Loaded>
      {opened.value && list.value && (
        <PasskeyDialog
          opened={opened.value}
          list={list.value}
          onClose={() => void (opened.value = undefined)}
          reload={reload}
        />
      )}
    </Section>
  );
}

const columnsOf = (open: (opened: Opened) => void): readonly Column<Passkey>[] => [
  { label: text.security.passkey, cell: ({ name }) => <bdi>{name}</bdi> },
  {
    label: text.security.storedOn,
    priority: 'below',
    cell: ({ synced, usable }) => (
      <>
        <Badge>{synced ? text.security.synced : text.security.thisDeviceOnly}</Badge>{' '}
        {!usable && <Badge tone="warning">{text.security.otherAddress}</Badge>}
      </>
    ),
  },
  {
    label: text.general.created,
    priority: 'medium',
    cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
  },
  { label: text.general.lastUsed, priority: 'medium', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  {
    label: text.general.actions,
    isLabelHidden: true,
    align: 'end',
    cell: (passkey) => (
      <>
        <Button kind="quiet" isSmall onClick={() => open({ action: 'rename', passkey })}>
          {text.security.rename}
          <span class="visually-hidden"> {passkey.name}</span>
        </Button>
        <Button kind="quiet" isSmall onClick={() => open({ action: 'remove', passkey })}>
          {text.general.remove}
          <span class="visually-hidden"> {passkey.name}</span>
        </Button>
      </>
    ),
  },
];

interface PasskeyDialogProps {
  readonly opened: Opened;
  readonly list: PasskeyList;
  readonly onClose: () => void;
  readonly reload: () => Promise<void>;
}

function PasskeyDialog({ opened, list, onClose, reload }: PasskeyDialogProps) {
  if (opened.action === 'remove') return <RemoveDialog {...{ passkey: opened.passkey, list, onClose, reload }} />;
  const passkey = opened.action === 'rename' ? opened.passkey : undefined;
  return (
    <ActionDialog
      title={passkey ? text.security.renamePasskey : text.security.addPasskey}
      submit={passkey ? text.general.save : text.general.continue}
      onClose={onClose}
      act={async (fields) => {
        const name = fields.text('name').trim();
        if (passkey) {
          await call('PATCH /auth/passkeys/:id', { params: { id: passkey.id }, body: { name } });
          announce(text.general.saved);
        } else {
          const { recoveryCodes } = await createPasskey(name);
          await showRecoveryCodes(recoveryCodes, text.security.passkeyAdded);
        }
        void reload();
      }}
    >
      {!passkey && <p>{text.security.addPasskeyIntro}</p>}
      <Field
        label={text.general.name}
        name="name"
        autocomplete="off"
        autofocus
        maxLength={64}
        hint={text.security.passkeyNameHint}
        defaultValue={passkey?.name ?? deviceText(navigator.userAgent)}
        codes={['nickname_invalid']}
      />
    </ActionDialog>
  );
}

interface RemoveDialogProps extends Omit<PasskeyDialogProps, 'opened'> {
  readonly passkey: Passkey;
}

const RemoveDialog = ({ passkey, list, onClose, reload }: RemoveDialogProps) => (
  <ActionDialog
    title={text.security.removePasskey(passkey.name)}
    submit={text.general.remove}
    kind="danger"
    onClose={onClose}
    act={async () => {
      await call('DELETE /auth/passkeys/:id', { params: { id: passkey.id } });
      await signalRemoval(list.rpId, passkey.credentialId);
      announce(text.security.passkeyRemoved);
      await reloadSession();
      void reload();
    }}
  >
    <p>{text.security.removePasskeyIntro}</p>
  </ActionDialog>
);
