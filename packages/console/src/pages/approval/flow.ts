/**
 * Where the person is on the way from a code to a decision. It is in memory, so that a sign-in in the middle loses nothing. Until the
 * decision, the code is in the fragment of the URL, which browsers do not send. If a sign-in leaves the page, this tab keeps the code and
 * what the person has chosen.
 */
import { signal } from '@preact/signals';
import { call, type RequestOf, type ResponseOf } from '../../api.ts';
import { serverNow } from '../../clock.ts';
import { keptCode, linkedCode } from '../../linked-code.ts';
import { Problem, problemOf } from '../../problem.ts';
import { reloadSession, session } from '../../session.ts';
import { store, stored } from '../../stored.ts';
import { approvalText } from '../../text/approval-text.ts';
import type { DeclaredScope } from '../keys/key-owner.ts';

export type Approval = ResponseOf<'POST /auth/approvals/lookup'>;
export type Outcome = Exclude<Approval['state'], 'pending'> | 'expired' | 'removed' | 'others' | 'foreign';

/** What the person has chosen of the requested right. */
export type Choices = Pick<
  Required<RequestOf<'POST /auth/approvals/:id/approve'>['body']>,
  'nickname' | 'scopes' | 'lifetimeSeconds'
>;

/** A request that the code has found. */
export interface Found {
  readonly code: string;
  readonly approval: Approval;
  /** The requested scopes, as the account may grant them. */
  readonly scopes: readonly DeclaredScope[];
  /** Who found it. */
  readonly accountId: string | undefined;
}

type Flow =
  | { readonly step: 'type' }
  /** The code is that of a link. */
  | { readonly step: 'compare'; readonly code: string }
  | { readonly step: 'review'; readonly found: Found }
  | { readonly step: 'outcome'; readonly outcome: Outcome; readonly found?: Found };

export const flow = signal<Flow>({ step: 'type' });
/** What the person has typed as the code. */
export const typed = signal('');
/** Undefined until the person changes a field. */
export const choices = signal<Choices>();

/** As programs show it. */
export function shownCode(code: string): string {
  const letters = code.replaceAll(/[^a-z]/gi, '').toUpperCase();
  return letters.length === 8 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : code;
}

/** Begins with the code of the link that was opened, or that a sign-in interrupted, if there is one. */
export function takeLink(): void {
  const current = flow.peek();
  const code = linkedCode() ?? keptCode();
  store('approval-code', undefined);
  if (code) {
    start({ step: 'compare', code });
    showInUrl(code);
  } else if (location.href.endsWith('#content')) {
    // The link to the content of the page.
    if (current.step === 'compare') showInUrl(current.code);
    if (current.step === 'review') showInUrl(current.found.code);
  }
  // Without its link, there is nothing to compare.
  else if (current.step === 'compare') start();
}

const showInUrl = (code: string): void => history.replaceState(history.state, '', `#${code}`);

/** What is in memory continues, unless another person has signed in. */
export function resume(): void {
  const current = flow.peek();
  const found = 'found' in current ? current.found : undefined;
  if (found?.accountId === session.peek()?.account.id) return;
  if (found) start();
  takeLink();
}

function start(next: Flow = { step: 'type' }): void {
  typed.value = '';
  choices.value = undefined;
  flow.value = next;
}

/** With another code. */
export function startAnew(): void {
  forget();
  start();
}

function forget(): void {
  // A reload must not ask for the code again.
  if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
  store('approval-choices', undefined);
}

export function choose({ accountId, code }: Found, chosen: Choices): void {
  choices.value = chosen;
  store('approval-choices', JSON.stringify([accountId, code, chosen]));
}

/** What the same person has chosen for the same code, in this tab. */
function keptChoices({ accountId, code }: Found): Choices | undefined {
  const [by, of, chosen] = JSON.parse(stored('approval-choices') ?? '[]') as [string?, string?, Choices?];
  return by === accountId && of === code ? chosen : undefined;
}

function end(outcome: Outcome, found?: Found): void {
  forget();
  choices.value = undefined;
  flow.value = { step: 'outcome', outcome, ...(found && { found }) };
}

/** The link is not that of the person's own program. */
export const reject = (): void => end('foreign');

/** @throws Problem */
export async function lookUp(code: string, mustBeDeclared: boolean): Promise<void> {
  const [approval, { scopes: declared }] = await Promise.all([
    call('POST /auth/approvals/lookup', { body: { code } }),
    call('GET /auth/scopes'),
  ]).catch((error: unknown) => {
    throw explained(error);
  });
  const scopes = approval.scopes.map(
    (name) => declared.find((scope) => scope.name === name) ?? { name, description: '', mayGrant: !mustBeDeclared },
  );
  const accountId = session.peek()?.account.id;
  const found = { code: shownCode(code), approval, scopes, accountId };
  // Decided already, such as in another tab.
  if (approval.state !== 'pending') return endAs(approval, found);
  typed.value = '';
  showInUrl(found.code);
  choices.value = keptChoices(found);
  flow.value = { step: 'review', found };
}

/** @throws Problem */
export const approve = (found: Found, chosen: Choices): Promise<void> =>
  decide(found, async ({ code, approval: { id } }) => {
    const approval = await call('POST /auth/approvals/:id/approve', { params: { id }, body: { code, ...chosen } });
    end('approved', { ...found, approval });
  });

/** Also takes an approval back, until the program has its key. @throws Problem */
export const deny = (found: Found): Promise<void> =>
  decide(found, async ({ code, approval: { id } }) => {
    await call('POST /auth/approvals/:id/deny', { params: { id }, body: { code } });
    end('denied');
  });

async function decide(found: Found, send: (found: Found) => Promise<void>): Promise<void> {
  try {
    await send(found);
  } catch (error) {
    const { code } = problemOf(error);
    if (code === 'approval_not_found') await endAbsent(found);
    else if (code === 'approval_decided') await endDecided(found);
    else throw explained(error);
  }
}

/** Here, a repetition is safe, also after a decision of unknown outcome: the general sentence states that it may not be. */
function explained(error: unknown): Problem {
  const problem = problemOf(error);
  const { code, status, body, retryAfterSeconds } = problem;
  if (code !== 'unavailable') return problem;
  return new Problem('repeatable', status, { ...body, detail: approvalText.unavailable }, retryAfterSeconds);
}

/** In another tab, or by another person. @throws Problem */
async function endDecided(found: Found): Promise<void> {
  try {
    const approval = await call('GET /auth/approvals/:id', { params: { id: found.approval.id } });
    endAs(approval, found);
  } catch (error) {
    if (problemOf(error).code !== 'approval_not_found') throw explained(error);
    end('others');
  }
}

/** @param approval of the own account, as it is stored */
export function endAs(approval: Approval, found: Found): void {
  if (approval.state !== 'pending') end(approval.state, { ...found, approval });
}

/** The request of a code that was found before does not exist any more. */
export async function endAbsent(found: Found): Promise<void> {
  end((await hasExpired(found)) ? 'expired' : 'removed');
}

export async function endExpired(found: Found): Promise<void> {
  // Without a request before that.
  if (isOver(found) && (await hasExpired(found))) end('expired');
}

/** By the server's clock: that of this computer may have jumped. */
async function hasExpired(found: Found): Promise<boolean> {
  await reloadSession();
  return isOver(found);
}

const isOver = ({ approval }: Found): boolean => serverNow() >= Date.parse(approval.expiresAt);
