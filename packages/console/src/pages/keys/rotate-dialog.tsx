/** Replaces the secret of a key. The old secret stays valid for the time that the person chooses. */
import { useSignal } from '@preact/signals';
import { formatDateTime } from '../../format.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Choice, Choices } from '../../parts/choice.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Time } from '../../parts/time.tsx';
import { text } from '../../text/text.ts';
import type { KeyDetails, KeyOwner } from './key-owner.ts';
import { KeySecretDialog } from './secret-dialog.tsx';

interface RotateDialogProps {
  readonly owner: KeyOwner;
  readonly current: KeyDetails;
  readonly onClose: () => void;
}

const hour = 3_600;
const overlaps = [
  ['hour', hour],
  ['day', 24 * hour],
  ['week', 7 * 24 * hour],
  ['now', 0],
] as const;

type Rotated = Awaited<ReturnType<KeyOwner['rotate']>>;

export function RotateDialog({ owner, current, onClose }: RotateDialogProps) {
  const rotated = useSignal<Rotated>();
  const isLost = useSignal(false);
  const { hint, previous, disabledReason } = current;
  if (rotated.value?.key) {
    const { key, previousExpiresAt } = rotated.value;
    const end = previousExpiresAt ? text.keys.validUntil(formatDateTime(previousExpiresAt)) : text.keys.hasEnded;
    return (
      <KeySecretDialog title={text.keys.rotated} secret={key} scopes={current.scopes} onClose={onClose}>
        <Facts
          facts={[
            [text.keys.newSecret, <code key="new">{`${key.slice(0, key.indexOf('_') + 1)}…${key.slice(-4)}`}</code>],
            [
              text.keys.oldSecret,
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
        {text.keys.rotateIntro} <code>{hint}</code>
      </p>
      {previous && disabledReason !== 'leaked' && (
        <Notice tone="warning">
          <p>
            {text.keys.overlapInProgress(formatDateTime(previous.expiresAt))} {text.general.lastUsed}:{' '}
            <Time at={previous.lastUsedAt} />
          </p>
          <Choice
            name="lost"
            label={text.keys.lost}
            onChange={(event) => void (isLost.value = event.currentTarget.checked)}
          />
        </Notice>
      )}
      {hasChoice && (
        <Choices legend={text.keys.oldEnds}>
          {overlaps.map(([name, seconds]) => (
            <Choice
              type="radio"
              name="overlap"
              value={seconds}
              defaultChecked={name === 'day'}
              label={text.keys.overlaps[name]}
              hint={seconds === 0 && text.keys.onlyCompromised}
              key={seconds}
            />
          ))}
        </Choices>
      )}
    </ActionDialog>
  );
}
