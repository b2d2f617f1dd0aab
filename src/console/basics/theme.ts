import { effect, signal } from '@preact/signals'

const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const kept = localStorage.getItem('theme')

/** The theme that the user chose, which this browser keeps. */
export const theme = signal<Theme>(themes.find((one) => one === kept) ?? 'system')

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
  localStorage.setItem('theme', theme.value)
})

/** Light after system, dark after light, and so on. */
export const nextTheme = (): void => {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system'
}
