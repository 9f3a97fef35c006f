/** A page, or a part of one, whose code loads when it is opened for the first time. */
import { useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentType } from 'preact';
import { Problem } from '../problem.ts';
import { ProblemNotice } from './problem-notice.tsx';
import { Skeleton } from './skeleton.tsx';

/** @param load imports the component; its props are those that the router passes */
export const lazyPage = <P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> =>
  lazy(load, () => <Skeleton isPage rows={4} />);

/** A dialog, or a card that a page may have: nothing stands for it until it has loaded. */
export const lazyPart = <P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> =>
  lazy(load, () => <div aria-busy hidden />);

function lazy<P extends object>(load: () => Promise<ComponentType<P>>, Waiting: ComponentType): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function LazyPage(props: P) {
    const Component = useSignal(loaded);
    const problem = useSignal<Problem>();
    useSignalEffect(() => {
      if (Component.peek()) return;
      load().then(
        (component) => {
          loaded = component;
          Component.value = component;
        },
        () => (problem.value = new Problem('page_not_loaded', 0)),
      );
    });
    // The browser keeps a failed import, so only a new load of the page tries again.
    if (problem.value) return <ProblemNotice problem={problem.value} onRetry={() => location.reload()} />;
    return Component.value ? <Component.value {...props} /> : <Waiting />;
  };
}
