/** How a program uses a key. The secret is unknown here, so commands have a variable of the shell instead. */
import { CopiedCode } from '../../parts/code-block.tsx';
import { Section } from '../../parts/section.tsx';
import { text } from '../../text/text.ts';
import { manageCommand, verifyCommand } from './key-commands.ts';
import { isManagementKey, isServiceKey } from './key-kinds.ts';
import type { KeyDetails } from './key-owner.ts';
import { commandOf, hintOf } from './secret-commands.tsx';

export function KeyUse({ of }: { readonly of: KeyDetails }) {
  const { intro, command } = useOf(of);
  return (
    <Section title={text.keys.use} description={intro}>
      {command !== undefined && (
        <>
          <CopiedCode label={text.keys.tryIt} code={command} />
          <p class="muted hint">{hintOf(command)}</p>
        </>
      )}
    </Section>
  );
}

function useOf({ scopes, publicKey }: Pick<KeyDetails, 'scopes' | 'publicKey'>): {
  readonly intro: string;
  readonly command?: string | undefined;
} {
  if (publicKey) return { intro: text.keys.usePublicKey };
  if (isServiceKey(scopes))
    return { intro: text.keys.useService, command: verifyCommand('$KEYREEVE_SERVICE_KEY', '$KEYREEVE_KEY') };
  if (isManagementKey(scopes)) return { intro: text.keys.useManagement, command: manageCommand('$MANAGEMENT_KEY') };
  return { intro: text.keys.useKey, command: commandOf('$KEYREEVE_KEY') };
}
