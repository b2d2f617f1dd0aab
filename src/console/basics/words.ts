/** The type of an event in words. @example wordsOf('AgentUpdated') // 'Agent updated' */
export const wordsOf = (type: string): string => type.replace(/(?<=[a-z])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)

/**
 * A plain name made of a text. Letters of all scripts stay; empty if the text has none, and no digit.
 *
 * @example nameFrom('My homes (2)') // 'my_homes_2'
 */
export const nameFrom = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')

/** A name of the API as a title. @example titleOf('next_run_at') // 'Next run at' */
export const titleOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')
