/** Shows the secret of a key, once, with commands that use it. */
import { SecretDialog, type SecretDialogProps } from '../../parts/secret-dialog.tsx';
import { SecretCommands } from './secret-commands.tsx';

interface KeySecretDialogProps extends Omit<SecretDialogProps, 'examples'> {
  readonly scopes: readonly string[];
}

export const KeySecretDialog = ({ scopes, ...props }: KeySecretDialogProps) => (
  <SecretDialog {...props} examples={<SecretCommands secret={props.secret} scopes={scopes} />} />
);
