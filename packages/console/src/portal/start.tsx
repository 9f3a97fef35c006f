/** The entry of the key page: takes the token, redeems it, and shows the keys. */
import { effect, signal } from '@preact/signals';
import { render, type VNode } from 'preact';
import type { Look } from '../../../elements/src/messages.ts';
import type { Navigation } from '../navigation.ts';
import { holdHistory } from '../parts/hold-history.ts';
import { ProblemNotice } from '../parts/problem-notice.tsx';
import { whenNoDialogIsOpen } from '../parts/waiting.ts';
import { problemOf, type Problem } from '../problem.ts';
import { text } from '../text/text.ts';
import { applyAppearance } from './apply-look.ts';
import { ownBrowsing } from './browsing.ts';
import { keepDialogsInSight } from './dialog-place.ts';
import { connectHost, type Host } from './host.ts';
import { watchPointer } from './keep-apart.ts';
import { languageOf } from './language.ts';
import { appearanceOf } from './look.ts';
import { listPath } from './owner.ts';
import { PortalPage } from './page.tsx';
import { hasEnded, redeem, takeToken } from './session.ts';
import { showLanguage } from './texts.ts';

// First, so that the URL has the token for as short a time as possible.
const token = takeToken();

/** How long the page waits for the look of the host, so that its first picture has it. */
const lookMsMax = 400;

const look = signal<Look>();
const firstLook = Promise.withResolvers<void>();
const element = document.querySelector('#app')!;
const isSystemDark = matchMedia('(prefers-color-scheme: dark)');

async function start(): Promise<void> {
  const host = connectHost((wanted) => void (look.value = wanted), ownBrowsing());
  host.send({ type: 'ready' });
  effect(showLook);
  watchPointer();
  refuseDrags();
  watchHeight(host);
  keepDialogsInSight();
  const redeemed = attempt(token);
  if (host.display === 'frame') await Promise.race([firstLook.promise, pause(lookMsMax)]);
  document.documentElement.dataset['look'] = '';
  await loadTexts();
  await showResult(host, await redeemed);
}

/** @returns the problem of a token that may still work */
async function attempt(given: string): Promise<Problem | undefined> {
  try {
    if (given === '') hasEnded.value = true;
    else await redeem(given);
    return undefined;
  } catch (error) {
    const problem = problemOf(error);
    if (problem.code !== 'portal_token_invalid') return problem;
    hasEnded.value = true;
    return undefined;
  }
}

async function showResult(host: Host, problem: Problem | undefined): Promise<void> {
  if (!problem) return showPage(host);
  show(
    <main>
      <h1>{text.general.keys}</h1>
      <ProblemNotice problem={problem} onRetry={() => void attempt(token).then((next) => showResult(host, next))} />
    </main>,
  );
}

function showPage(host: Host): void {
  const isEnded = signal(false);
  effect(() => {
    if (!hasEnded.value) return;
    whenNoDialogIsOpen(() => {
      if (isEnded.peek()) return;
      isEnded.value = true;
      host.send({ type: 'ended' });
    });
  });
  show(<PortalPage host={host} isEnded={isEnded} navigation={host.display === 'page' ? inHistory() : inMemory()} />);
}

/** In place of the skeleton of index.html. */
function show(page: VNode): void {
  if (element.hasAttribute('aria-busy')) element.replaceChildren();
  element.removeAttribute('aria-busy');
  render(page, element);
}

function showLook(): void {
  const wanted = look.value;
  if (!wanted) return;
  applyAppearance(appearanceOf(wanted, isSystemDark.matches));
  firstLook.resolve();
  if (document.documentElement.dataset['look'] !== undefined) void loadTexts();
}

isSystemDark.addEventListener('change', () => look.peek() && void (look.value = { ...look.peek()! }));

/** A failed load leaves the language as it is; without any, the page tries again. */
async function loadTexts(): Promise<void> {
  await showLanguage(languageOf(look.peek()?.lang, navigator.languages)).catch(async () => {
    if (text) return;
    await pause(2000);
    await loadTexts();
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** A hostile page could have the person drag a selected secret out of the frame, or a text into a field. */
function refuseDrags(): void {
  for (const type of ['dragstart', 'drop']) addEventListener(type, (event) => event.preventDefault(), true);
}

function watchHeight(host: Host): void {
  let sent = -1;
  new ResizeObserver(() => {
    const px = Math.min(100_000, Math.ceil(document.body.getBoundingClientRect().height));
    if (px === sent) return;
    sent = px;
    host.send({ type: 'height', px });
  }).observe(document.body);
}

function parts(url: string): Pick<Navigation, 'path' | 'query'> {
  const [path = listPath, search] = url.split('?');
  return { path, query: Object.fromEntries(new URLSearchParams(search)) };
}

/** In a frame: the steps of its history would be steps of the host's. */
function inMemory() {
  const route = (url: string): void => void (navigation.value = { ...navigation.peek(), ...parts(url) });
  const navigation = signal<Navigation>({ path: listPath, query: {}, route, isInMemory: true });
  return navigation;
}

/** In a page of its own, the person can go back from a key to the list. The URL stays: another tab would have no session. */
function inHistory() {
  const change = (url: string): void => void (navigation.value = { ...navigation.peek(), ...parts(url) });
  const navigation = signal<Navigation>({
    path: listPath,
    query: {},
    isInMemory: true,
    route: (url, isReplacement) => {
      const state = { ...(history.state as object | null), view: url };
      if (isReplacement) history.replaceState(state, '');
      else history.pushState(state, '');
      change(url);
    },
  });
  holdHistory();
  addEventListener('popstate', () => {
    change((history.state as { view?: string } | null)?.view ?? listPath);
  });
  return navigation;
}

void start();
