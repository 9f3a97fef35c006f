/** A request to the operator's API with curl and in three languages. The programs read the secret from a variable of the environment. */
import { useSignal } from '@preact/signals';
import { CopiedCode } from '../parts/code-block.tsx';
import { CopyField } from '../parts/copy-field.tsx';
import { Section } from '../parts/section.tsx';
import { Segments } from '../parts/segments.tsx';
import type { KeyDetails } from '../pages/keys/key-owner.ts';
import { config } from '../session-state.ts';
import { text } from '../text/text.ts';
import { exampleLanguages, exampleOf, variable, type ExampleLanguage } from './example-code.ts';
import { portalText } from './texts.ts';

/** Nothing if the operator has configured no request. */
function Examples() {
  const language = useSignal<ExampleLanguage>('curl');
  const request = config.value?.exampleRequest;
  if (!request) return null;
  return (
    <div class="stack tight">
      <Segments
        label={portalText.language}
        options={exampleLanguages.map((name) => [name, name] as const)}
        value={language.value}
        onChange={(name) => void (language.value = name)}
      />
      <CopiedCode label={text.keys.tryIt} code={exampleOf(language.value, request)} />
    </div>
  );
}

export const SecretExamples = ({ secret }: { readonly secret: string }) => (
  <>
    <CopyField label={text.keys.environmentLine} value={`${variable}=${secret}`} />
    <Examples />
  </>
);

/** Outside of the component, where the linter takes the name for a Hook. */
const intro = (): string => text.keys.useKey;

/** A key with a public key or a trust has no secret that a program could send. */
export const UseSection = ({ of: { publicKey, trust } }: { readonly of: KeyDetails }) =>
  publicKey || trust ? null : (
    <Section title={text.keys.use} description={intro()}>
      <Examples />
    </Section>
  );
