import { signal } from '@preact/signals'

const isShown = (): boolean => document.visibilityState === 'visible'

/** Whether the window can be seen. One that is hidden asks for nothing by itself, and holds no connection of the browser. */
export const isVisible = signal(isShown())
document.addEventListener('visibilitychange', () => (isVisible.value = isShown()))
