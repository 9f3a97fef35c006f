/** `keyreeve key scan-rules`: rules with which secret scanners find the API keys of this installation. */
import { Option } from 'commander';
import { processEnvironment, readConfig } from '../app/configuration/config.ts';
import { acceptedPrefixes } from '../modules/api-keys/key-prefixes.ts';
import { scanFormats, scanRules, type ScanFormat } from '../modules/api-keys/scan-rules.ts';
import type { CliCommand } from './command.ts';

export function addScanRulesCommand(key: CliCommand): void {
  key
    .command('scan-rules')
    .description('Print rules with which a secret scanner finds API keys with the configured prefixes.')
    .addOption(new Option('--format <format>', 'program that reads the rules').choices(scanFormats).default('gitleaks'))
    .documentedIn('docs/leaks.md')
    .reads('keyPrefix', 'keyPrefixesAccepted', 'environments')
    .examples(
      'keyreeve key scan-rules > keyreeve.toml && gitleaks git --config keyreeve.toml',
      'keyreeve key scan-rules --format trufflehog > keyreeve.yaml',
    )
    .action(({ format }: { format: ScanFormat }) => {
      process.stdout.write(scanRules(format, acceptedPrefixes(readConfig(processEnvironment()))));
    });
}
