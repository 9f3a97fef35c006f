/**
 * Rules with which secret scanners find API keys: configuration files of Gitleaks and TruffleHog. Both use RE2, which has no
 * lookahead.
 */
import { keyPattern } from '@keyreeve/contract';

export const scanFormats = ['gitleaks', 'trufflehog'] as const;
export type ScanFormat = (typeof scanFormats)[number];

const ruleId = 'keyreeve-api-key';

/**
 * No boundary is required before the prefix: a key can follow a letter, as in `key%3Dkrv_…`. A longer text after it is no
 * key.
 */
export const scanPattern = (prefixes: readonly string[]): string => String.raw`${keyPattern(prefixes)}\b`;

/**
 * @param prefixes of API keys: lower-case letters, digits and underscores, so they need no quotation
 * @returns the file, with a line break at its end
 */
export const scanRules = (format: ScanFormat, prefixes: readonly string[]): string => renderers[format](prefixes);

const renderers: Readonly<Record<ScanFormat, (prefixes: readonly string[]) => string>> = {
  gitleaks: (prefixes) => `[[rules]]
id = "${ruleId}"
description = "API key of Keyreeve"
regex = '''${scanPattern(prefixes)}'''
keywords = [${prefixes.map((prefix) => `"${prefix}_"`).join(', ')}]
`,
  trufflehog: (prefixes) => `detectors:
  - name: ${ruleId}
    description: API key of Keyreeve
    keywords:
${prefixes.map((prefix) => `      - ${prefix}_`).join('\n')}
    regex:
      key: '(${scanPattern(prefixes)})'
`,
};
