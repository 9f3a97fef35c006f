/** The Compose file, as its services. */
import { parse } from 'yaml';
import { readPage } from './shell-blocks.ts';

export interface ComposeService {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly restart?: string;
  readonly logging?: { readonly options?: Readonly<Record<string, string>> };
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly stop_grace_period?: string;
  readonly networks?: { readonly inside?: { readonly ipv4_address: string } };
}

const text = readPage('docs/compose/compose.yaml');

export const { services } = parse(text.replaceAll('$$', '$'), { merge: true }) as {
  readonly services: Readonly<Record<string, ComposeService>>;
};
export const keyreeve = services['keyreeve-1']!;
/** The script that creates the secrets. */
export const secretsScript = services['secrets']?.command?.at(-1) ?? '';
