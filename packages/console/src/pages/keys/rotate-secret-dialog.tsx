/** Replaces the secret of a key. The old one stays valid for the time that the person chooses. */
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { formatDateTime } from '../../format.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Choice } from '../../parts/choice.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Notice } from '../../parts/notice.tsx';
import { SecretDialog } from '../../parts/secret-dialog.tsx';
import { Time } from '../../parts/time.tsx';
import { rotationText } from '../../text/rotation-text.ts';
import { text } from '../../text/text.ts';
import type { KeyDetails, KeyOwner, SecretExamplesProps } from './key-owner.ts';
import { OverlapChoices } from './overlap-choices.tsx';

export interface RotateDialogProps {
  readonly owner: KeyOwner;
  readonly current: KeyDetails;
  readonly onClose: () => void;
}

type Rotated = Awaited<ReturnType<KeyOwner['rotate']>>;

interface RotateSecretDialogProps extends RotateDialogProps {
  readonly SecretExamples: ComponentType<SecretExamplesProps>;
}

export function RotateSecretDialog({ owner, current, SecretExamples, onClose }: RotateSecretDialogProps) {
  const rotated = useSignal<Rotated>();
  const isLost = useSignal(false);
  const { hint, previous, disabledReason } = current;
  if (rotated.value?.key) {
    const { key, previousExpiresAt } = rotated.value;
    const end = previousExpiresAt ? rotationText.validUntil(formatDateTime(previousExpiresAt)) : rotationText.hasEnded;
    return (
      <SecretDialog
        title={rotationText.rotated}
        secret={key}
        examples={<SecretExamples secret={key} scopes={current.scopes} />}
        onClose={onClose}
      >
        <Facts
          facts={[
            [rotationText.newSecret, <code key="new">{`${key.slice(0, key.indexOf('_') + 1)}…${key.slice(-4)}`}</code>],
            [
              rotationText.oldSecret,
              <>
                <code>{hint}</code> {end}
              </>,
            ],
          ]}
        />
      </SecretDialog>
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
        {rotationText.rotateIntro} <code>{hint}</code>
      </p>
      {previous && disabledReason !== 'leaked' && (
        <Notice tone="warning">
          <p>
            {rotationText.overlapInProgress(formatDateTime(previous.expiresAt))} {text.general.lastUsed}:{' '}
            <Time at={previous.lastUsedAt} />
          </p>
          <Choice
            name="lost"
            label={rotationText.lost}
            onChange={(event) => void (isLost.value = event.currentTarget.checked)}
          />
        </Notice>
      )}
      {hasChoice && <OverlapChoices legend={rotationText.oldEnds} nowHint={rotationText.onlyCompromised} />}
    </ActionDialog>
  );
}
