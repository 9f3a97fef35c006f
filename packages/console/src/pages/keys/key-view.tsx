/** One API key: its usage and settings, changes, rotation and deletion. */
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { formatDateTime } from '../../format.ts';
import { useNavigation } from '../../navigation.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { announce } from '../../parts/announce.tsx';
import { Button } from '../../parts/button.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Time } from '../../parts/time.tsx';
import { useAction, useResource } from '../../resource.ts';
import { config } from '../../session-state.ts';
import { rotationText } from '../../text/rotation-text.ts';
import { text } from '../../text/text.ts';
import { DeleteKeyDialog, deletion, deletionLabel } from './delete-key-dialog.tsx';
import { KeyFacts } from './key-facts.tsx';
import { changeOf, KeyFields } from './key-fields.tsx';
import { isManagementKey } from './key-kinds.ts';
import { isOwner, type KeyChange, type KeyDetails, type KeySource } from './key-owner.ts';
import { stateOf } from './key-state.tsx';
import { KeyUsage } from './key-usage.tsx';
import type { RotateDialogProps } from './rotate-secret-dialog.tsx';
import { loadTrustParts, trustParts, type TrustParts } from './trust-parts.ts';

type DialogName = 'edit' | 'rotate' | 'disable' | 'end' | 'delete';

export interface KeyViewProps {
  readonly owner: KeySource;
  readonly id: number;
  readonly RotateDialog: ComponentType<RotateDialogProps>;
  /** How a program uses a key. */
  readonly UseSection: ComponentType<{ readonly of: KeyDetails }>;
}

/** The page of a key of any owner. */
export function KeyView({ owner, id, RotateDialog, UseSection: UsualSection }: KeyViewProps) {
  const { route } = useNavigation();
  const key = useResource(async (abort) => {
    const loaded = await owner.get(id, abort);
    // Before the page shows them: they stand between others.
    if (loaded.trust && owner.tokens) await loadTrustParts();
    return loaded;
  });
  const dialog = useSignal<DialogName>();
  const change = async (body: KeyChange): Promise<void> => {
    key.set(await owner.change(id, body));
    announce(text.keys.saved);
  };
  const enable = useAction(() => change({ disabled: false }));
  const current = key.value;
  return (
    <Page
      title={current?.nickname ?? text.keys.key}
      parent={{ href: owner.listPath, label: owner.listLabel() }}
      actions={current && <Actions current={current} owner={owner} dialog={dialog} enable={enable} />}
    >
      {enable.problem && <ProblemNotice problem={enable.problem} />}
      <Loaded of={key} rows={5}>
        {(loaded) => {
          const { UseSection = UsualSection, TokensSection }: Partial<TrustParts> =
            loaded.trust && owner.tokens ? trustParts() : {};
          return (
            <div class="stack wide">
              <Notices
                current={loaded}
                onEnd={owner.rights.rotate(loaded) ? () => void (dialog.value = 'end') : undefined}
              />
              {Boolean(config.value?.features.usageDays) && <KeyUsage owner={owner} id={id} />}
              <UseSection of={loaded} />
              <KeyFacts of={loaded} />
              {TokensSection && <TokensSection owner={owner} of={loaded} />}
            </div>
          );
        }}
      </Loaded>
      {current && dialog.value && (
        <KeyDialog
          name={dialog.value}
          owner={owner}
          RotateDialog={RotateDialog}
          current={current}
          change={change}
          onDeleted={() => route(owner.listPath)}
          onClose={() => {
            dialog.value = undefined;
            if (deletion.peek()?.id !== id) void key.reload();
          }}
        />
      )}
    </Page>
  );
}

interface ActionsProps {
  readonly current: KeyDetails;
  readonly owner: KeySource;
  readonly dialog: { value: DialogName | undefined };
  readonly enable: { readonly isRunning: boolean; readonly run: () => Promise<boolean> };
}

/** An administrator's reason ends only by an administrator, a leak only by a rotation. */
const enabledByOwner = new Set(['owner', 'dormant', 'restore']);

function Actions({ current, owner, dialog, enable }: ActionsProps) {
  const { disabledReason, publicKey, trust, scopes } = current;
  const { rename, limit, disable, rotate, delete: remove } = owner.rights;
  const open = (name: DialogName) => () => void (dialog.value = name);
  return (
    <>
      {(rename || limit) && <Button onClick={open('edit')}>{text.keys.edit}</Button>}
      {rotate(current) && !publicKey && !isManagementKey(scopes) && (
        <Button onClick={open('rotate')}>{trust ? rotationText.rotateTrust : text.keys.rotate}</Button>
      )}
      {disable &&
        (disabledReason === null ? (
          <Button onClick={open('disable')}>{text.keys.disable}</Button>
        ) : (
          (isOwner(owner) ? enabledByOwner.has(disabledReason) : disabledReason !== 'leaked') && (
            <Button action={enable}>{text.keys.enable}</Button>
          )
        ))}
      {remove && (
        <Button kind="danger" onClick={open('delete')}>
          {deletionLabel(current)}
        </Button>
      )}
    </>
  );
}

function Notices({ current, onEnd }: { readonly current: KeyDetails; readonly onEnd: (() => void) | undefined }) {
  const { disabledAt, disabledReason, expiresAt, previous } = current;
  return (
    <>
      {disabledReason && disabledAt && (
        <Notice tone={disabledReason === 'leaked' ? 'error' : 'warning'}>
          <p>
            {text.keys.reasons[disabledReason]} <Time at={disabledAt} as="dateTime" />
          </p>
        </Notice>
      )}
      {expiresAt && stateOf(current) === 'expired' && (
        <Notice tone="warning">
          <p>{text.keys.expiredSince(formatDateTime(expiresAt))}</p>
        </Notice>
      )}
      {previous && (
        <Notice>
          <p>
            {text.keys.previousValid(formatDateTime(previous.expiresAt))} {text.general.lastUsed}:{' '}
            <Time at={previous.lastUsedAt} />.
          </p>
          {onEnd && (
            <Button isSmall onClick={onEnd}>
              {text.keys.endPrevious}
            </Button>
          )}
        </Notice>
      )}
    </>
  );
}

interface KeyDialogProps extends Pick<KeyViewProps, 'owner' | 'RotateDialog'> {
  readonly name: DialogName;
  readonly current: KeyDetails;
  readonly change: (body: KeyChange) => Promise<void>;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

function KeyDialog({ name, owner, RotateDialog, current, change, onDeleted, onClose }: KeyDialogProps) {
  switch (name) {
    case 'rotate':
      return isOwner(owner) ? <RotateDialog owner={owner} current={current} onClose={onClose} /> : null;
    case 'delete':
      return <DeleteKeyDialog owner={owner} of={current} onDeleted={onDeleted} onClose={onClose} />;
    case 'edit':
      return (
        <ActionDialog
          title={text.keys.edit}
          submit={text.general.save}
          size="large"
          onClose={onClose}
          act={async (fields) => {
            const body = changeOf(fields, current);
            if (body) await change(body);
          }}
        >
          <KeyFields current={current} rights={owner.rights} scopes={isOwner(owner) ? owner.scopes : undefined} />
        </ActionDialog>
      );
    case 'disable':
      return (
        <ActionDialog
          title={text.keys.disableTitle}
          submit={text.keys.disable}
          kind="danger"
          onClose={onClose}
          act={() => change({ disabled: true })}
        >
          <p>{text.keys.disableIntro}</p>
        </ActionDialog>
      );
    case 'end':
      return (
        <ActionDialog
          title={text.keys.endPrevious}
          kind="danger"
          onClose={onClose}
          act={async () => {
            if (isOwner(owner)) await owner.endPrevious(current.id);
            announce(text.keys.saved);
          }}
        >
          <p>{text.keys.endPreviousIntro}</p>
        </ActionDialog>
      );
  }
}
