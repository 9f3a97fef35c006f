/** Examples of how keys are verified, at a proxy or in a program. Their code is that of the documentation (examples.ts of the build). */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { CopiedCode } from '../../parts/code-block.tsx';
import { Segments } from '../../parts/segments.tsx';
import { docsUrl } from '../../root.ts';
import { config } from '../../session.ts';
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
  proxyPage: '../forward-auth.md',
  /** In the languages of the programs. */
  url: /process\.env\.KEYREEVE_URL|os\.environ\["KEYREEVE_URL"\]|os\.Getenv\("KEYREEVE_URL"\)/,
} as const;

/** @param addresses of this installation */
export function exampleOf(name: Name, { forProxies, forPrograms }: Addresses): string {
  const quote = name === 'express' ? "'" : '"';
  const proxyPage = config.value?.features.docs && `${location.origin}${docsUrl}/forward-auth`;
  return codes[name]
    .replace(documented.proxyPage, proxyPage || documented.proxyPage)
    .replaceAll(documented.address, forProxies)
    .replace(documented.url, quote + forPrograms + quote)
    .replaceAll('$BASE_URL', forPrograms)
    .replaceAll('$SERVICE_KEY', '$KEYREEVE_SERVICE_KEY');
}

/** To the address of the proxy in the files. */
const proxiedRequest = 'curl -i http://127.0.0.1:8080/ -H "Authorization: Bearer $KEYREEVE_KEY"';

interface ExamplesProps {
  readonly addresses: Addresses;
  /** What programs need and proxies do not: a service key. */
  readonly children: ComponentChildren;
}

export function Examples({ addresses, children }: ExamplesProps) {
  const shown = useSignal<Name>('nginx');
  const texts = adminText.protect;
  const name = shown.value;
  const isProxy = name === 'nginx' || name === 'caddy';
  return (
    <div class="stack">
      <Segments
        label={texts.exampleFor}
        options={options}
        value={name}
        onChange={(chosen) => void (shown.value = chosen)}
      />
      {!isProxy && children}
      <p class="muted">
        {isProxy ? texts.proxyHint(addresses.forProxies) : name === 'curl' ? texts.curlHint : texts.programHint}
      </p>
      <CopiedCode
        label={texts.example(options.find(([option]) => option === name)![1])}
        code={exampleOf(name, addresses)}
      />
      {isProxy && (
        <>
          <p class="muted">{texts.proxiedHint}</p>
          <CopiedCode label={texts.proxied} code={proxiedRequest} />
        </>
      )}
    </div>
  );
}
