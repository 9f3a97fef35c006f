/** Deletes a key. Shows what would stop working; a key in use requires its nickname. */
import { signal } from '@preact/signals';
import { serverNow } from '../../clock.ts';
import { formatNumber } from '../../format.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { announce } from '../../parts/announce.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Time } from '../../parts/time.tsx';
import { useResource } from '../../resource.ts';
import { config } from '../../session-state.ts';
import { text } from '../../text/text.ts';
import type { KeyDetails, KeySource } from './key-owner.ts';

const dayMs = 86_400_000;

/** The newest deletion, for the notice above the list. */
export const deletion = signal<{ readonly id: number; readonly nickname: string; readonly sentence: string }>();

export function DeletionNotice() {
  const { nickname, sentence } = deletion.value ?? {};
  return sentence ? (
    <Notice tone="success">
      <p>
        <bdi>{nickname}</bdi>: {sentence}
      </p>
    </Notice>
  ) : null;
}

const isInUse = (lastUsedAt: string | null): boolean =>
  lastUsedAt !== null && serverNow() - Date.parse(lastUsedAt) < 7 * dayMs;

/** The key of a program is what a sign-in with it has left on a device. */
export const deletionLabel = ({ program }: Pick<KeyDetails, 'program'>): string =>
  program ? text.keys.signOut : text.keys.delete;

interface DeleteKeyDialogProps {
  readonly owner: Pick<KeySource, 'get' | 'usage' | 'remove'>;
  readonly of: Pick<KeyDetails, 'id' | 'nickname' | 'lastUsedAt' | 'program'>;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

export function DeleteKeyDialog({ owner, of, onDeleted, onClose }: DeleteKeyDialogProps) {
  const { id, nickname, lastUsedAt } = of;
  const facts = useResource(async (abort) => {
    const since = new Date(serverNow() - dayMs);
    const [key, usage] = await Promise.all([
      owner.get(id, abort),
      config.value?.features.usageDays ? owner.usage(id, 'hour', since, abort) : null,
    ]);
    return { key, requests: usage?.usage.reduce((sum, { accepted, refused }) => sum + accepted + refused, 0) };
  });
  return (
    <ActionDialog
      title={of.program ? text.keys.signOut : text.keys.deleteTitle}
      submit={deletionLabel(of)}
      kind="danger"
      onClose={onClose}
      act={async () => {
        await owner.remove(id);
        const sentence = text.keys.rejectedSince(new Date(serverNow()).toISOString().slice(11, 23));
        deletion.value = { id, nickname, sentence };
        announce(sentence);
        onDeleted();
      }}
    >
      <p>
        <strong>
          <bdi>{nickname}</bdi>
        </strong>
      </p>
      <p>{text.keys.deleteIntro}</p>
      <Loaded of={facts}>
        {({ key, requests }) => (
          <Facts
            facts={[
              [text.general.lastUsed, <Time key="used" at={key.lastUsedAt} />],
              [text.keys.usedFrom, key.lastUsedFrom ?? undefined],
              [text.keys.requestsDay, requests === undefined ? undefined : formatNumber(requests)],
            ]}
          />
        )}
      </Loaded>
      {isInUse(lastUsedAt) && (
        <Field
          label={text.keys.typeNickname}
          name="confirmation"
          autocomplete="off"
          hint={text.keys.inUse}
          onInput={({ currentTarget }) =>
            currentTarget.setCustomValidity(
              currentTarget.value.normalize('NFC').trim() === nickname ? '' : text.keys.nicknameDiffers,
            )
          }
        />
      )}
    </ActionDialog>
  );
}
