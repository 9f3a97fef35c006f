/** Creates a key with a trust, then shows the step with which a workflow gets its secrets. */
import type { VNode } from 'preact';
import type { Fields } from '../../../fields.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { text } from '../../../text/text.ts';
import { trustText } from '../../../text/trust-text.ts';
import { newKeyOf } from '../key-fields.tsx';
import type { KeyOwner, Trust } from '../key-owner.ts';
import { WorkflowStep } from './trust-section.tsx';
import { trustIn } from './workload.ts';

interface TrustDialogProps {
  readonly keyId: number;
  readonly trust: Trust;
  readonly onClose: () => void;
}

const TrustDialog = ({ keyId, trust, onClose }: TrustDialogProps) => (
  <Dialog title={trustText.created} size="large" onClose={onClose}>
    <p>{trustText.createdIntro}</p>
    <WorkflowStep trust={trust} keyId={keyId} />
    <div class="actions end">
      <Button kind="primary" autofocus onClick={onClose}>
        {text.general.close}
      </Button>
    </div>
  </Dialog>
);

/** @param fields of a key and of its trust @returns the dialog that replaces the form @throws Problem */
export async function createWithTrust(
  owner: Required<Pick<KeyOwner, 'createWithTrust' | 'get'>>,
  fields: Fields,
  onClose: () => void,
): Promise<VNode> {
  const { id } = await owner.createWithTrust(newKeyOf(fields), trustIn(fields));
  const { trust } = await owner.get(id);
  return <TrustDialog keyId={id} trust={trust!} onClose={onClose} />;
}
