/** The entry of the console: loads texts, settings and session, then shows the page of the URL. */
import { effect } from '@preact/signals';
import { render, type VNode } from 'preact';
import { LocationProvider, useLocation } from 'preact-iso/router';
import { NavigationContext } from './navigation.ts';
import { useOwnSentences } from './own-sentences.ts';
import { Problem } from './problem.ts';
import { productName } from './product-name.ts';
import { config, loadSession, session } from './session.ts';
import { Shell } from './shell.tsx';
import { consoleIcons } from './parts/console-icons.ts';
import { holdHistory } from './parts/hold-history.ts';
import { addIcons } from './parts/icon.tsx';
import { ProblemNotice } from './parts/problem-notice.tsx';
import { store } from './stored.ts';
import { loadTexts } from './text/load-texts.ts';
import { text, textsVersion } from './text/text.ts';
import { basePath, root } from './root.ts';

const element = document.querySelector('#app')!;

async function start(): Promise<void> {
  useOwnSentences();
  addIcons(consoleIcons);
  holdHistory();
  // At the same time, so that the page appears after one round trip.
  const [texts, data] = await Promise.allSettled([loadTexts(), loadSession()]);
  if (texts.status === 'rejected') return reloadLater(10);
  if (data.status === 'rejected') {
    if (!(data.reason instanceof Problem)) throw data.reason;
    return showFailure(data.reason);
  }
  document.title = productName();
  showMark();
  effect(rememberSession);
  show(<Root />);
}

/** In place of the skeleton of index.html. */
function show(page: VNode): void {
  element.replaceChildren();
  element.removeAttribute('aria-busy');
  render(page, element);
}

/** Another language renders everything again. */
const Root = () => (
  <LocationProvider scope={root} key={textsVersion.value}>
    <Located />
  </LocationProvider>
);

const Located = () => (
  <NavigationContext.Provider value={useLocation()}>
    <Shell />
  </NavigationContext.Provider>
);

/** For the skeleton of the next visit (early.ts). */
function rememberSession(): void {
  store('session', session.value ? 'open' : undefined);
  document.documentElement.toggleAttribute('data-session', Boolean(session.value));
}

/** The operator's mark as the icon of the tab. */
function showMark(): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  if (!icon || !config.value?.mark) return;
  icon.removeAttribute('type');
  icon.href = basePath + config.value.mark;
}

/** Reloads the page by itself: a person may not be there when the service responds again. */
function showFailure(problem: Problem): void {
  show(
    <main class="narrow">
      <h1>{text.general.product}</h1>
      <ProblemNotice problem={problem} onRetry={() => location.reload()} />
    </main>,
  );
  reloadLater(problem.retryAfterSeconds ?? 10);
}

const reloadLater = (seconds: number): void => void setTimeout(() => location.reload(), seconds * 1000);

void start();
