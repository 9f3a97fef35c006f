/** Signs in to a running Keyreeve, for loads that create and delete keys. */
import { join } from 'node:path';
import { writePool, type Pool } from './request.ts';
import { basicOf, keyIdAt, keysPerAccount, signedInAccounts } from './seeded.ts';

export interface SignedIn {
  readonly accessTokens: Pool;
  /** Each record is the id of a seeded key and the access token of its owner. */
  readonly deletions: Pool;
}

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export async function tokensOf(port: number, account: number): Promise<Tokens> {
  const response = await fetch(`http://127.0.0.1:${port}/auth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basicOf(account)}` },
  });
  if (!response.ok) throw new Error(`the sign-in returned ${response.status}`);
  return (await response.json()) as Tokens;
}

/** Of the first accounts. They expire after ten minutes. */
export async function accessTokensOf(port: number, accounts: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let account = 1; account <= accounts; account++) tokens.push((await tokensOf(port, account)).accessToken);
  return tokens;
}

/** The access tokens expire after ten minutes. */
export async function signIn(port: number, folder: string): Promise<SignedIn> {
  const tokens = await accessTokensOf(port, signedInAccounts);
  const deletions = Array.from(
    { length: signedInAccounts * keysPerAccount },
    // Consecutive deletions belong to different accounts.
    (_, index) => {
      const owner = index % signedInAccounts;
      return `${keyIdAt(owner * keysPerAccount + Math.floor(index / signedInAccounts))}${tokens[owner]}`;
    },
  );
  return {
    accessTokens: writePool(join(folder, 'access-tokens'), tokens),
    deletions: writePool(join(folder, 'deletions'), deletions),
  };
}
