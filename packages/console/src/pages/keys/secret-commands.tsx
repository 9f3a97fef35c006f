/** Commands of the console that use the secret of a key. */
import { CopyField } from '../../parts/copy-field.tsx';
import { isAdministrator } from '../../session-state.ts';
import { text } from '../../text/text.ts';
import { requestCommand, verifyCommand } from './key-commands.ts';
import { isServiceKey } from './key-kinds.ts';
import type { SecretExamplesProps } from './key-owner.ts';

export function SecretCommands({ secret, scopes }: SecretExamplesProps) {
  const isForService = isServiceKey(scopes);
  const command = isForService ? verifyCommand(secret, secret) : commandOf(secret);
  return (
    <>
      <CopyField
        label={text.keys.environmentLine}
        value={`${isForService ? 'KEYREEVE_SERVICE_KEY' : 'KEYREEVE_KEY'}=${secret}`}
      />
      {command !== undefined && (
        <CopyField
          label={text.keys.tryIt}
          hint={isForService ? text.keys.verifiesItself : hintOf(command)}
          value={command}
        />
      )}
    </>
  );
}

/** @returns nothing for a request to the operator’s API */
export const hintOf = (command: string): string =>
  command.includes('$KEYREEVE_SERVICE_KEY') ? text.keys.needsServiceKey : '';

/**
 * What the person can try with a key, for its owner and for administrators. `/auth/forward` is for proxies only, and is often not
 * reachable from outside.
 * @param key a secret, or a variable of the shell
 */
export const commandOf = (key: string): string | undefined =>
  requestCommand(key) ?? (isAdministrator.value ? verifyCommand('$KEYREEVE_SERVICE_KEY', key) : undefined);
