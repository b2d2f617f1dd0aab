import { computed, effect, signal } from '@preact/signals'
import { keep, readKept } from './kept.js'

const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const kept = readKept('theme')

/** The theme that the user chose, as stored in this browser. */
export const theme = signal<Theme>(themes.find((one) => one === kept) ?? 'system')

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
  if (theme.value !== readKept('theme')) keep('theme', theme.value)
})

/** The next theme: light after system, dark after light, system after dark. */
export const nextTheme = (): void => {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system'
}

const system = matchMedia('(prefers-color-scheme: dark)')
const isSystemDark = signal(system.matches)
system.addEventListener('change', ({ matches }) => {
  isSystemDark.value = matches
})

/** Whether the page is dark now. All follows the stylesheet, but a canvas is drawn again when this changes. */
export const isDark = computed(() => (theme.value === 'system' ? isSystemDark.value : theme.value === 'dark'))
