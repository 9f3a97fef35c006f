/**
 * Places dialogs in the part of the frame that the person sees: the frame is as high as its content, and the host page scrolls. The style
 * sheet centers them between these edges.
 */
import { effect } from '@preact/signals';
import { openDialogs } from '../parts/open-dialogs.ts';

export function keepDialogsInSight(): void {
  const root = document.documentElement;
  effect(() => {
    if (openDialogs.value === 0) return undefined;
    const observer = new IntersectionObserver(([entry]) => {
      observer.disconnect();
      if (!entry?.isIntersecting) return;
      const { top, bottom } = entry.intersectionRect;
      root.style.setProperty('--sight-start', `${Math.max(0, Math.round(top))}px`);
      root.style.setProperty('--sight-end', `${Math.max(0, Math.round(root.clientHeight - bottom))}px`);
    });
    observer.observe(root);
    return () => observer.disconnect();
  });
}
