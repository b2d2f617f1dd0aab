/** Whether this machine has the keys of a Mac: ⌘ is there what Ctrl is elsewhere, and Ctrl with a letter edits a text. */
const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

/** Whether a key is pressed with Ctrl, on a Mac with ⌘. */
export const isCommand = ({ ctrlKey, metaKey }: KeyboardEvent): boolean => (isMac ? metaKey : ctrlKey)

/** The name of a key that is pressed with Ctrl, on a Mac with ⌘. @example commandText('K') // 'Ctrl K' */
export const commandText = (key: string): string => `${isMac ? '⌘' : 'Ctrl'} ${key}`

/** The same for `aria-keyshortcuts`. @example commandShortcut('K') // 'Control+K' */
export const commandShortcut = (key: string): string => `${isMac ? 'Meta' : 'Control'}+${key}`
