/** Shows the secret of a new or rotated key, once. */
import type { ComponentChildren } from 'preact';
import { CopyField } from '../../parts/copy-field.tsx';
import { SecretDialog } from '../../parts/secret-dialog.tsx';
import { config } from '../../session.ts';
import { text } from '../../text/text.ts';

interface KeySecretDialogProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

export const KeySecretDialog = ({ title, secret, onClose, children }: KeySecretDialogProps) => (
  <SecretDialog
    title={title}
    secret={secret}
    onClose={onClose}
    examples={
      <>
        <CopyField label={text.keys.environmentLine} value={`KEYREEVE_KEY=${secret}`} />
        <CopyField
          label={text.keys.tryIt}
          isBlock
          value={`curl -i ${config.value?.origin ?? location.origin}/auth/forward \\\n  -H 'Authorization: Bearer ${secret}'`}
        />
      </>
    }
  >
    {children}
  </SecretDialog>
);
