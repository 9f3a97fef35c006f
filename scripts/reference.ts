/** The reference pages, generated from the program's own tables. */
import { readFileSync } from 'node:fs';
import { limitGroups, limits } from '@keyreeve/contract';
import { settings } from '../packages/server/src/app/settings.ts';
import { withTables } from './operating-tables.ts';

const generated = '<!-- Made by `npm run docs` from the program’s own tables; edit those. -->';

/** Path in the repository → content. */
export function referencePages(): Readonly<Record<string, string>> {
  return {
    'docs/limits.md': limitsPage(),
    'docs/configuration.md': configurationPage(),
    'docs/operating.md': withTables(readFileSync(new URL('../docs/operating.md', import.meta.url), 'utf8')),
  };
}

function limitsPage(): string {
  const intro = `These bounds are fixed; the settings are in [configuration.md](configuration.md). “More: 429” and “Longer: 503” name
the status of the response beyond a bound. A worker is one process. A range is an IPv4 address or an IPv6 /64; it is
trusted for an email address that signed in from it within ${limits.loginOriginTrustDays} days.`;
  const sections = Object.entries(limitGroups).map(([title, group]) => {
    const rows = Object.entries(group).map(([name, { value, why }]) => `| \`${name}\` | ${grouped(value)} | ${why} |`);
    return `## ${title}\n\n${table('| bound | value | meaning |\n| --- | ---: | --- |', rows)}`;
  });
  return page('# Limits', intro, ...sections, signInSection());
}

function configurationPage(): string {
  const rows = Object.values(settings).map(({ name, default: fallback, doc, isSecret }) => {
    const alsoFile = isSecret ? ` Or [\`${name}_FILE\`](operating.md#secret-files).` : '';
    return `\`${name}\`${fallback === '' ? '' : ` (\`${fallback}\`)`} | ${doc.replaceAll('|', '\\|')}${alsoFile}`;
  });
  const intro = `Keyreeve reads these environment variables at its start. It reports all errors, also unknown names \`KEYREEVE_…\`, and exits
with status 78. \`keyreeve doctor\` prints the settings in force, without secrets.`;
  return page('# Configuration', intro, table('variable (default) | meaning\n--- | ---', rows));
}

function signInSection(): string {
  const minutes = limits.loginWindowSeconds / 60;
  const factor = limits.loginTrustedFailuresFactor;
  const delays = `then delays of ${limits.loginPairDelaySecondsFirst} s, doubling to ${limits.loginPairDelaySecondsMax} s`;
  return `## Failed sign-ins

The server counts each attempt before it checks the password, and removes the count if the password is right. It counts
email addresses with and without an account. Beyond a limit, even the right password gets \`429\` with \`Retry-After\`.

| counted | untrusted range | trusted range |
| --- | --- | --- |
| one email address from one range | ${limits.loginPairFreeFailures}, ${delays} | ${limits.loginKnownPairFailuresMax} in ${limits.loginKnownPairWindowSeconds} s |
| one email address from all ranges, with and without its \`+tag\` | ${limits.loginEmailFailuresMax}; one expires every ${limits.loginEmailLeakSeconds} s | no limit |
| one range in ${minutes} minutes, or \`KEYREEVE_LOGIN_ADDRESS_LIMITS\` | ${limits.loginAddressFailuresMax} | ${factor} times as many |
| one /48 of IPv6 in ${minutes} minutes, except networks in \`KEYREEVE_LOGIN_ADDRESS_LIMITS\` | ${limits.loginNetworkFailuresMax} | ${factor} times as many |
| all ranges in ${minutes} minutes | ${grouped(limits.loginGlobalFailuresMax)} | no limit |

- Clients in untrusted ranges cannot lock an owner out of a trusted range. Clients in the same range can.
- A successful sign-in resets only the first row. The other counts of untrusted ranges decrease only with time.
`;
}

const grouped = (value: number): string => value.toLocaleString('en-US');

const table = (head: string, rows: readonly string[]): string => `${head}\n${rows.join('\n')}`;

const page = (title: string, ...parts: readonly string[]): string =>
  [title, generated, ...parts].join('\n\n').trimEnd() + '\n';
