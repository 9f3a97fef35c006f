/** Which view the page shows, and the way to another one. The console has them in the URL, the key page in the frame in memory. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

export interface Navigation {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** @param isReplacement the view before it does not become a step of the history */
  readonly route: (url: string, isReplacement?: boolean) => void;
  /** Whether links are buttons, because the view has no URL that another tab could open. */
  readonly isInMemory?: boolean;
}

export const NavigationContext = createContext<Navigation>({ path: '', query: {}, route: () => undefined });

export const useNavigation = (): Navigation => useContext(NavigationContext);
