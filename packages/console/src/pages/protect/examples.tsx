/** Examples of how keys are verified, at a proxy or in a program. Their code is that of the documentation (examples.ts of the build). */
import { useSignal } from '@preact/signals';
import { CopiedCode } from '../../parts/code-block.tsx';
import { Segments } from '../../parts/segments.tsx';
import { adminText } from '../../text/admin-text.ts';
import type { Addresses } from './addresses.ts';

const options = [
  ['nginx', 'nginx'],
  ['caddy', 'Caddy'],
  ['express', 'Express'],
  ['fastapi', 'FastAPI'],
  ['go', 'Go'],
  ['curl', 'curl'],
] as const;
type Name = (typeof options)[number][0];

const codes = JSON.parse(EXAMPLES) as Readonly<Record<Name, string>>;

/** In the files of the documentation. */
const documented = {
  address: '127.0.0.1:8787',
  /** In the languages of the programs. */
  url: /process\.env\.KEYREEVE_URL|os\.environ\["KEYREEVE_URL"\]|os\.Getenv\("KEYREEVE_URL"\)/,
} as const;

/** @param addresses of this installation */
export function exampleOf(name: Name, { forProxies, forPrograms }: Addresses): string {
  const quote = name === 'express' ? "'" : '"';
  return codes[name]
    .replaceAll(documented.address, forProxies)
    .replace(documented.url, quote + forPrograms + quote)
    .replaceAll('$BASE_URL', forPrograms)
    .replaceAll('$SERVICE_KEY', '$KEYREEVE_SERVICE_KEY');
}

export function Examples({ addresses }: { readonly addresses: Addresses }) {
  const shown = useSignal<Name>('nginx');
  const texts = adminText.protect;
  const name = shown.value;
  const hint =
    name === 'nginx' || name === 'caddy'
      ? texts.proxyHint(addresses.forProxies)
      : name === 'curl'
        ? texts.curlHint
        : texts.programHint;
  return (
    <div class="stack">
      <Segments
        label={texts.exampleFor}
        options={options}
        value={name}
        onChange={(chosen) => void (shown.value = chosen)}
      />
      <p class="muted">{hint}</p>
      <CopiedCode
        label={texts.example(options.find(([option]) => option === name)![1])}
        code={exampleOf(name, addresses)}
      />
    </div>
  );
}
