/** Replaces the secret or the trust of a key. The old one stays valid for the time that the person chooses. */
import { RotateSecretDialog } from './rotate-secret-dialog.tsx';
import { SecretCommands } from './secret-commands.tsx';
import { RotateTrustDialog } from './trust/rotate-trust-dialog.tsx';
import type { TrustParts } from './trust-parts.ts';

export const RotateDialog: TrustParts['RotateDialog'] = (props) =>
  props.current.trust ? (
    <RotateTrustDialog {...props} trust={props.current.trust} />
  ) : (
    <RotateSecretDialog {...props} SecretExamples={SecretCommands} />
  );
