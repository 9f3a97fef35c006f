/** Replaces the secret or the trust of a key. The old one stays valid for the time that the person chooses. */
import { useSignal } from '@preact/signals';
import type { ComponentProps } from 'preact';
import { formatDateTime } from '../../format.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Choice } from '../../parts/choice.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/text.ts';
import { trustText } from '../../text/trust-text.ts';
import type { KeyOwner } from './key-owner.ts';
import type { TrustParts } from './trust-parts.ts';
import { OverlapChoices } from './overlap-choices.tsx';
import { KeySecretDialog } from './secret-dialog.tsx';
import { RotateTrustDialog } from './trust/rotate-trust-dialog.tsx';

type Rotated = Awaited<ReturnType<KeyOwner['rotate']>>;

export const RotateDialog: TrustParts['RotateDialog'] = (props) =>
  props.current.trust ? (
    <RotateTrustDialog {...props} trust={props.current.trust} />
  ) : (
    <RotateSecretDialog {...props} />
  );

function RotateSecretDialog({ owner, current, onClose }: ComponentProps<TrustParts['RotateDialog']>) {
  const rotated = useSignal<Rotated>();
  const isLost = useSignal(false);
  const { hint, previous, disabledReason } = current;
  if (rotated.value?.key) {
    const { key, previousExpiresAt } = rotated.value;
    const end = previousExpiresAt
      ? trustText.secret.validUntil(formatDateTime(previousExpiresAt))
      : trustText.secret.hasEnded;
    return (
      <KeySecretDialog title={trustText.secret.rotated} secret={key} scopes={current.scopes} onClose={onClose}>
        <Facts
          facts={[
            [
              trustText.secret.newSecret,
              <code key="new">{`${key.slice(0, key.indexOf('_') + 1)}…${key.slice(-4)}`}</code>,
            ],
            [
              trustText.secret.oldSecret,
              <>
                <code>{hint}</code> {end}
              </>,
            ],
          ]}
        />
      </KeySecretDialog>
    );
  }
  // A leaked secret has ended, so there is nothing to choose.
  const hasChoice = disabledReason !== 'leaked' && !isLost.value;
  return (
    <ActionDialog
      title={text.keys.rotate}
      onClose={() => rotated.peek() === undefined && onClose()}
      act={async (fields) => {
        const overlapSeconds = Number(fields.text('overlap'));
        rotated.value = await owner.rotate(
          current.id,
          isLost.peek() ? { endCurrent: true } : hasChoice ? { overlapSeconds, endPrevious: true } : {},
        );
      }}
    >
      <p>
        {trustText.secret.rotateIntro} <code>{hint}</code>
      </p>
      {previous && disabledReason !== 'leaked' && (
        <Notice tone="warning">
          <p>
            {trustText.secret.overlapInProgress(formatDateTime(previous.expiresAt))} {text.general.lastUsed}:{' '}
            <Time at={previous.lastUsedAt} />
          </p>
          <Choice
            name="lost"
            label={trustText.secret.lost}
            onChange={(event) => void (isLost.value = event.currentTarget.checked)}
          />
        </Notice>
      )}
      {hasChoice && <OverlapChoices legend={trustText.secret.oldEnds} nowHint={trustText.secret.onlyCompromised} />}
    </ActionDialog>
  );
}
