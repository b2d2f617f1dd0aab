/** The type of an event in words. @example wordsOf('AgentUpdated') // 'Agent updated' */
export const wordsOf = (type: string): string => type.replace(/(?<=[a-z])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
