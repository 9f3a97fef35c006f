/** The fail2ban filter of failed sign-ins from the documentation. */
import { readFileSync } from 'node:fs';

/** The filter's expression, with the group `address` instead of fail2ban's own. */
export function failRegex(): RegExp {
  const filter = readFileSync(new URL('../../../docs/fail2ban/keyreeve.conf', import.meta.url), 'utf8');
  const [, expression = ''] = /^failregex = (.*)$/m.exec(filter) ?? [];
  return new RegExp(expression.replace('<ADDR>', '(?<address>[0-9a-f.:]+)'));
}
