/** The entry of the console: loads texts, settings and session, then shows the page of the URL. */
import { render } from 'preact';
import { LocationProvider } from 'preact-iso/router';
import { Problem } from './problem.ts';
import { config, loadSession } from './session.ts';
import { Shell } from './shell.tsx';
import { ProblemNotice } from './parts/problem-notice.tsx';
import { loadTexts } from './text/text.ts';

const root = document.querySelector('#app')!;

async function start(): Promise<void> {
  await loadTexts(navigator.languages);
  try {
    await loadSession();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    render(
      <main class="narrow">
        <ProblemNotice problem={error} onRetry={() => location.reload()} />
      </main>,
      root,
    );
    return;
  }
  document.title = config.value?.product ?? 'Keyreeve';
  root.replaceChildren();
  render(
    <LocationProvider scope="/console">
      <Shell />
    </LocationProvider>,
    root,
  );
}

void start();
