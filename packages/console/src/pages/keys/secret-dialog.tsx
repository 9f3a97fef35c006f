/** Shows the secret of a new or rotated key, once. */
import { CopyField } from '../../parts/copy-field.tsx';
import { SecretDialog, type SecretDialogProps } from '../../parts/secret-dialog.tsx';
import { config } from '../../session.ts';
import { text } from '../../text/text.ts';

export const KeySecretDialog = (props: Omit<SecretDialogProps, 'examples'>) => (
  <SecretDialog
    {...props}
    examples={
      <>
        <CopyField label={text.keys.environmentLine} value={`KEYREEVE_KEY=${props.secret}`} />
        <CopyField
          label={text.keys.tryIt}
          isBlock
          value={`curl -i ${config.value?.origin ?? location.origin}/auth/forward \\\n  -H 'Authorization: Bearer ${props.secret}'`}
        />
      </>
    }
  />
);
