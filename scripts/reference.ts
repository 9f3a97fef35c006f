/** The reference pages, generated from the program's own tables. */
import { readFileSync } from 'node:fs';
import { errors, limitGroups, limits, type Limit } from '@keyreeve/contract';
import { clientNames } from '../packages/server/src/app/configuration/ignored-names.ts';
import { settings } from '../packages/server/src/app/configuration/settings.ts';
import { chartReadme } from './chart-values.ts';
import { publishedPathsFile } from './published-paths.ts';
import { withTables } from './operating-tables.ts';

const generated = '<!-- Made by `npm run docs` from the program’s own tables; edit those. -->';

/** Path in the repository → content. */
export function referencePages(): Readonly<Record<string, string>> {
  return {
    'docs/limits.md': limitsPage(),
    'docs/configuration.md': configurationPage(),
    'docs/operating.md': withTables(textOf('docs/operating.md')),
    'ops/helm/keyreeve/README.md': chartReadme(),
    // A chart reads no file outside its folder.
    'ops/helm/keyreeve/files/dashboard.json': textOf('ops/grafana/keyreeve.json'),
    'ops/helm/keyreeve/files/rules.yml': textOf('ops/prometheus/rules.yml'),
    'ops/helm/keyreeve/files/paths.yaml': publishedPathsFile(),
  };
}

const textOf = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

/** First the bounds that a client or an operator can meet, by subject, with what the client gets; then all others. */
function limitsPage(): string {
  const intro = `These bounds are fixed; the [settings](configuration.md) are not. The first tables have the bounds that a client or an operator
can meet; [the last one](#all-other-bounds) has all others, where “More: 429” names the status. A range is an IPv4 address or an IPv6 /64; it is trusted for an email
address that signed in from it within ${limits.signInOriginTrustDays} days.`;
  const all = Object.entries(limitGroups).map(([title, group]) => ({ title, rows: Object.entries<Limit>(group) }));
  const met = all.map(({ title, rows }) => {
    const lines = rows.flatMap(([name, { value, why, answer }]) =>
      answer === undefined ? [] : [`\`${name}\` | ${grouped(value)} | ${why} | ${shown(answer)}`],
    );
    return `## ${title}\n\n${table('bound | value | meaning | beyond it\n--- | ---: | --- | ---', lines)}`;
  });
  const signIns = signInSection();
  const others = all.flatMap(({ rows }) =>
    rows
      .filter(([name, { answer }]) => answer === undefined && !signIns.includes(`\`${name}\``))
      .map(([name, { value, why }]) => `\`${name}\` | ${grouped(value)} | ${why}`),
  );
  const rest = `## All other bounds\n\n${table('bound | value | meaning\n--- | ---: | ---', others)}`;
  return page('# Look up a limit, and what a client beyond it gets', intro, ...met, signIns.trimEnd(), rest);
}

/** @param answer a code of the registry is shown with its status */
function shown(answer: string): string {
  const error = Object.entries(errors).find(([code]) => code === answer);
  return error ? `${error[1].status} \`${answer}\`` : answer;
}

function configurationPage(): string {
  const rows = Object.values(settings).map(({ name, default: fallback, doc, isSecret }) => {
    const alsoFile = isSecret ? ` Or [\`${name}_FILE\`](operating.md#secret-files).` : '';
    return `\`${name}\`${fallback === '' ? '' : ` (\`${fallback}\`)`} | ${doc.replaceAll('|', '\\|')}${alsoFile}`;
  });
  const intro = `Keyreeve reads these environment variables at its start. It reports all errors, also unknown names \`KEYREEVE_…\`, and exits
with status 78. \`keyreeve doctor\` prints the settings in force, without secrets, and names those that differ from the ones of
running instances.

\`keyreeve --env-file FILE …\` or \`KEYREEVE_SETTINGS_FILE\` names [a file with settings](operating.md#the-settings-file).`;
  const reserved = `## Names of clients

These names are reserved for clients. The service and the command line ignore them.`;
  const names = Object.entries(clientNames).map(([name, doc]) => `\`${name}\` | ${doc}`);
  return page(
    '# Configure the service: all settings',
    intro,
    table('variable (default) | meaning\n--- | ---', rows),
    reserved,
    table('variable | meaning\n--- | ---', names),
  );
}

function signInSection(): string {
  const minutes = limits.signInWindowSeconds / 60;
  const factor = limits.signInTrustedFailuresFactor;
  const delays = `then delays of ${limits.signInPairDelaySecondsFirst} s, doubling to ${limits.signInPairDelaySecondsMax} s`;
  return `## Failed sign-ins

The server counts each attempt before it checks the password, and removes the count if the password is right. It counts
email addresses with and without an account. Beyond a limit, even the right password gets \`429\` with \`Retry-After\`.

| counted | untrusted range | trusted range | bounds |
| --- | --- | --- | --- |
| one email address from one range | ${limits.signInPairFreeFailures}, ${delays} | ${limits.signInTrustedPairFailuresMax} in ${limits.signInTrustedPairWindowSeconds} s | ${names('signInPairFreeFailures', 'signInPairDelaySecondsFirst', 'signInPairDelaySecondsMax', 'signInTrustedPairFailuresMax', 'signInTrustedPairWindowSeconds')} |
| one email address from all ranges, with and without its \`+tag\` | ${limits.signInEmailFailuresMax}; one expires every ${limits.signInEmailLeakSeconds} s | no limit | ${names('signInEmailFailuresMax', 'signInEmailLeakSeconds')} |
| one range in ${minutes} minutes, or \`KEYREEVE_SIGN_IN_RANGE_LIMITS\` | ${limits.signInRangeFailuresMax} | ${factor} times as many | ${names('signInRangeFailuresMax', 'signInWindowSeconds', 'signInTrustedFailuresFactor')} |
| one /48 of IPv6 in ${minutes} minutes, except networks in \`KEYREEVE_SIGN_IN_RANGE_LIMITS\` | ${limits.signInNetworkFailuresMax} | ${factor} times as many | ${names('signInNetworkFailuresMax')} |
| all ranges in ${minutes} minutes | ${grouped(limits.signInGlobalFailuresMax)} | no limit | ${names('signInGlobalFailuresMax')} |

- Clients in untrusted ranges cannot lock an owner out of a trusted range. Clients in the same range can.
- A successful sign-in resets only the first row. The other counts of untrusted ranges decrease only with time.
`;
}

const names = (...bounds: readonly (keyof typeof limits)[]): string => bounds.map((name) => `\`${name}\``).join(' ');

const grouped = (value: number): string => value.toLocaleString('en-US');

const table = (head: string, rows: readonly string[]): string => `${head}\n${rows.join('\n')}`;

const page = (title: string, ...parts: readonly string[]): string =>
  [title, generated, ...parts].join('\n\n').trimEnd() + '\n';
