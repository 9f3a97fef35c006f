/** Replaces the trust of a key. The old one stays valid for the time that the person chooses. */
import { formatDateTime } from '../../../format.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { announce } from '../../../parts/announce.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { rotationText } from '../../../text/rotation-text.ts';
import { trustText } from '../../../text/trust-text.ts';
import type { KeyDetails, KeyOwner, Trust } from '../key-owner.ts';
import { OverlapChoices } from '../overlap-choices.tsx';
import { TrustFields } from './trust-fields.tsx';
import { trustIn } from './workload.ts';

interface RotateTrustDialogProps {
  readonly owner: KeyOwner;
  readonly current: KeyDetails;
  readonly trust: Trust;
  readonly onClose: () => void;
}

export const RotateTrustDialog = ({ owner, current, trust, onClose }: RotateTrustDialogProps) => (
  <ActionDialog
    title={rotationText.rotateTrust}
    size="large"
    onClose={onClose}
    act={async (fields) => {
      const overlapSeconds = Number(fields.text('overlap'));
      await owner.rotate(current.id, { trust: trustIn(fields), overlapSeconds, endPrevious: true });
      announce(trustText.rotated);
    }}
  >
    <p>{trustText.rotateIntro}</p>
    {current.previous && (
      <Notice tone="warning">{trustText.overlapInProgress(formatDateTime(current.previous.expiresAt))}</Notice>
    )}
    <TrustFields of={trust} />
    <OverlapChoices legend={trustText.oldEnds} nowHint={trustText.endNow} />
  </ActionDialog>
);
