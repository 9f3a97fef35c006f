/** The pages of reference that are made from the program's own tables, so that they can't say anything else. */
import { limitTable } from '@keyreeve/contract';
import { variables } from '../packages/server/src/config.ts';

const generated = '<!-- Made by `npm run docs` from the program’s own tables; edit those. -->';

/** Path in the repository → content. */
export function referencePages(): Readonly<Record<string, string>> {
  return { 'docs/limits.md': limitsPage(), 'docs/configuration.md': configurationPage() };
}

function limitsPage(): string {
  const rows = Object.entries(limitTable).map(
    ([name, { value, why }]) => `| \`${name}\` | ${grouped(value)} | ${why} |`,
  );
  return page(
    '# Limits',
    'The bounds that a caller or an operator can meet, each with its unit in its name. What an operator can set is in [configuration.md](configuration.md).',
    '| bound | value | why |\n| --- | ---: | --- |',
    rows,
    signInSection(),
  );
}

function configurationPage(): string {
  const rows = Object.entries(variables).map(([name, { default: fallback, doc, isSecret }]) => {
    const alsoFile = isSecret
      ? ` Or \`${name}_FILE\`: the path of a [file that others cannot read](operating.md#secret-files).`
      : '';
    return `| \`${name}\` | ${fallback === '' ? '–' : `\`${fallback}\``} | ${doc}${alsoFile} |`;
  });
  return page(
    '# Configuration',
    'Environment variables, read once at start. All mistakes are reported together, with exit status 78; so is a name that begins with `KEYREEVE_` and isn’t here. `keyreeve doctor` shows what is in force, without secrets.',
    '| variable | default | meaning |\n| --- | --- | --- |',
    rows,
  );
}

const signInSection = (): string => `## Failed sign-ins

Each attempt is counted as a failure before the password is looked at, and given back when it was right. Counters live in
the database under keyed hashes; emails are counted whether or not an account has them. An address range is an IPv4
address or the /64 network of an IPv6 one. Counted in the same way is not answered in the same way: whoever shares an
address range with an owner can tell by the first \`429\` whether the email signed in from there lately. A refused attempt is answered \`429\` with \`Retry-After\`, also with the right
password, and never reaches the hash.

| counted | limit | from a range that the email signed in from in the last ${limitTable.loginOriginTrustDays.value} days |
| --- | --- | --- |
| one email from one address range | ${limitTable.loginPairFreeFailures.value} free, then waits of ${limitTable.loginPairDelaySecondsFirst.value} s, doubling to ${limitTable.loginPairDelaySecondsMax.value} s | ${limitTable.loginKnownPairFailuresMax.value} in ${limitTable.loginKnownPairWindowSeconds.value} s, no waits |
| one email in a row, from anywhere; and its mailbox without the \`+tag\` | ${limitTable.loginEmailFailuresMax.value} | no limit |
| one address range, all emails, in ${limitTable.loginWindowSeconds.value / 60} minutes | ${limitTable.loginAddressFailuresMax.value}, or what \`KEYREEVE_LOGIN_ADDRESS_LIMITS\` says | no limit |
| one /48 of IPv6, all emails, in ${limitTable.loginWindowSeconds.value / 60} minutes; without addresses in \`KEYREEVE_LOGIN_ADDRESS_LIMITS\` | ${limitTable.loginNetworkFailuresMax.value} | no limit |
| all together, in ${limitTable.loginWindowSeconds.value / 60} minutes | ${grouped(limitTable.loginGlobalFailuresMax.value)} | no limit |

So nobody elsewhere can lock an owner out of where the owner signs in from. Somebody there can: whoever shares the range
and uses up the ${limitTable.loginKnownPairFailuresMax.value} as soon as each ${limitTable.loginKnownPairWindowSeconds.value} s begin leaves the owner none. And from elsewhere an email takes ${limitTable.loginEmailFailuresMax.value} guesses in a row and
no more, until its owner signs in or \`keyreeve account set-password\` is used.
`;

const grouped = (value: number): string => value.toLocaleString('en-US');

const page = (title: string, intro: string, head: string, rows: readonly string[], rest = ''): string =>
  `${title}\n\n${generated}\n\n${intro}\n\n${head}\n${rows.join('\n')}\n${rest === '' ? '' : `\n${rest}`}`;
