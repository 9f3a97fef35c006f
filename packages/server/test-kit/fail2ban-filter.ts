/** The filter of failed sign-ins that the documentation offers for fail2ban. */
import { readFileSync } from 'node:fs';

/** Its expression, with the group `address` in the place of fail2ban's own. */
export function failRegex(): RegExp {
  const filter = readFileSync(new URL('../../../docs/fail2ban/keyreeve.conf', import.meta.url), 'utf8');
  const [, expression = ''] = /^failregex = (.*)$/m.exec(filter) ?? [];
  return new RegExp(expression.replace('<ADDR>', '(?<address>[0-9a-f.:]+)'));
}
