/** The type of an event in words. @example wordsOf('AgentUpdated') // 'Agent updated' */
export const wordsOf = (type: string): string => type.replace(/(?<=[a-z])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)

/** A name of the API as a title. @example titleOf('next_run_at') // 'Next run at' */
export const titleOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')
