/** The entry of the console: loads texts, settings and session, then shows the page of the URL. */
import { render } from 'preact';
import { LocationProvider } from 'preact-iso/router';
import { Problem } from './problem.ts';
import { config, loadSession } from './session.ts';
import { Shell } from './shell.tsx';
import { ProblemNotice } from './parts/problem-notice.tsx';
import { loadTexts, text } from './text/text.ts';

const root = document.querySelector('#app')!;

async function start(): Promise<void> {
  await loadTexts(navigator.languages);
  try {
    await loadSession();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    showFailure(error);
    return;
  }
  document.title = config.value?.product ?? text.general.product;
  root.replaceChildren();
  render(
    <LocationProvider scope="/console">
      <Shell />
    </LocationProvider>,
    root,
  );
}

/** Reloads the page by itself: a person may not be there when the service responds again. */
function showFailure(problem: Problem): void {
  root.replaceChildren();
  render(
    <main class="narrow">
      <h1>{text.general.product}</h1>
      <ProblemNotice problem={problem} onRetry={() => location.reload()} />
    </main>,
    root,
  );
  setTimeout(() => location.reload(), 1000 * (problem.retryAfterSeconds ?? 10));
}

void start();
