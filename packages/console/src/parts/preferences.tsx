/** The theme and the language, which a person chooses for this browser. */
import { signal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Problem } from '../problem.ts';
import { useAction } from '../resource.ts';
import { chooseLanguage } from '../text/choose-language.ts';
import { chosenLanguage, languages } from '../text/language.ts';
import { text } from '../text/text.ts';
import { chooseTheme, chosenTheme, themes } from '../theme.ts';
import { ProblemNotice } from './problem-notice.tsx';

const theme = signal(chosenTheme());
/** After another language, the page is rendered again: the focus returns to the choice. */
let isChanging = false;
/** In its own language. */
const languageNames = { en: 'English', de: 'Deutsch' } as const;

export function Preferences() {
  const id = useId();
  const language = useRef<HTMLSelectElement>(null);
  // After the effects of the page, which moves the focus to its heading.
  useEffect(() => {
    if (isChanging) language.current?.focus();
    isChanging = false;
  }, []);
  const change = useAction(async (chosen: string) => {
    isChanging = true;
    await chooseLanguage(chosen).catch(() => {
      throw new Problem('page_not_loaded', 0);
    });
  });
  return (
    <div class="preferences">
      <label for={`${id}-theme`}>{text.general.theme}</label>
      <select
        id={`${id}-theme`}
        value={theme.value}
        onChange={({ currentTarget }) => {
          theme.value = currentTarget.value as typeof theme.value;
          chooseTheme(theme.value);
        }}
      >
        {themes.map((name) => (
          <option value={name} key={name}>
            {text.general.themes[name]}
          </option>
        ))}
      </select>
      <label for={`${id}-language`}>{text.general.language}</label>
      <select
        ref={language}
        id={`${id}-language`}
        value={chosenLanguage()}
        aria-busy={change.isRunning}
        onChange={({ currentTarget }) => void change.run(currentTarget.value)}
      >
        <option value="system">{text.general.languageOfSystem}</option>
        {languages.map((name) => (
          <option value={name} lang={name} translate={false} key={name}>
            {languageNames[name]}
          </option>
        ))}
      </select>
      {change.problem && <ProblemNotice problem={change.problem} />}
    </div>
  );
}
