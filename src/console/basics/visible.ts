import { signal } from '@preact/signals'

const isShown = (): boolean => document.visibilityState === 'visible'

/** Whether the window can be seen. While it is hidden, live events and repeated looks rest: they hold no connection of the browser. */
export const isVisible = signal(isShown())
document.addEventListener('visibilitychange', () => (isVisible.value = isShown()))
